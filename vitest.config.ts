import { defineConfig } from 'vitest/config';
import { SlowestFiles } from './test/slowest-files.ts';

/** Workspace packages are tested from their sources, so that a test never sees a stale build. */
const source = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
};

/** Only a test that hangs takes so long, also on a machine that does much else. */
const LIMIT_MS = 600_000;

/** To start a process for each file would be most of the work of a small one. */
const sharedProcess = { isolate: false, setupFiles: ['test/fresh-modules.ts'] };

/**
 * Tests that start real servers, a system of its own for each file. They wait a third of the time,
 * so that three files at a time keep two cores busy.
 */
function withServers(name: string) {
  return {
    ...source,
    test: {
      name,
      ...sharedProcess,
      include: [`test/${name}/*.test.ts`],
      globalSetup: ['test/provision.ts'],
      testTimeout: LIMIT_MS,
      hookTimeout: LIMIT_MS,
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
          hookTimeout: 120_000,
          ...sharedProcess,
          include: ['packages/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts', 'test/*.test.ts'],
        },
      },
      withServers('integration'),
      withServers('faults'),
      withServers('e2e'),
    ],
  },
});
