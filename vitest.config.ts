import { defineConfig } from 'vitest/config';
import { SlowestFiles } from './test/slowest-files.ts';

/** Workspace packages are tested from their sources, so that a test never sees a stale build. */
const source = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
};

/**
 * Tests that start real servers, a system of its own for each file. They work as long as they wait,
 * so that two files at a time keep two cores busy. The limits are for a machine that does other
 * work.
 */
function withServers(name: string) {
  return {
    ...source,
    test: {
      name,
      include: [`test/${name}/*.test.ts`],
      globalSetup: ['test/provision.ts'],
      testTimeout: 180_000,
      hookTimeout: 240_000,
      maxWorkers: 3,
      sequence: { groupOrder: 1 }, // after the unit tests
    },
  };
}

export default defineConfig({
  test: {
    // The default reporter comes last, since its closing lines are read by machines.
    reporters: [new SlowestFiles(), 'default'],
    projects: [
      {
        ...source,
        test: {
          name: 'unit',
          maxWorkers: '100%', // by default vitest leaves one core idle
          testTimeout: 120_000,
          isolate: false,
          setupFiles: ['test/fresh-modules.ts'],
          include: ['packages/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'test/*.test.ts'],
        },
      },
      withServers('integration'),
      withServers('faults'),
      withServers('e2e'),
    ],
  },
});
