import { defineConfig } from 'vitest/config';

/** Workspace packages are tested from their sources, so that a test never sees a stale build. */
const source = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
};

/** Tests that start real servers: one file at a time, for each runs a system of its own. */
function withServers(name: string, groupOrder: number) {
  return {
    ...source,
    test: {
      name,
      include: [`test/${name}/*.test.ts`],
      globalSetup: ['test/provision.ts'],
      testTimeout: 60_000,
      hookTimeout: 120_000,
      fileParallelism: false,
      // One project after the other: systems side by side would only slow each other down.
      sequence: { groupOrder },
    },
  };
}

export default defineConfig({
  test: {
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          testTimeout: 60_000,
          include: ['packages/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'test/*.test.ts'],
        },
      },
      withServers('integration', 1),
      withServers('faults', 2),
      withServers('e2e', 3),
    ],
  },
});
