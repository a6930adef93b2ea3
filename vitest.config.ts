import { defineConfig } from 'vitest/config';

/** Workspace packages are tested from their sources, so that a test never sees a stale build. */
const source = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
};

export default defineConfig({
  test: {
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'test/*.test.ts'],
        },
      },
      {
        ...source,
        test: {
          name: 'integration',
          include: ['test/integration/*.test.ts'],
          globalSetup: ['test/servers.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
