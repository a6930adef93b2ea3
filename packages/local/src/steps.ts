/** Prints each step of the set-up, how long it may take the first time, and how long it took. */
export interface Steps {
  /** Runs one step, and shows how long to expect it to take. */
  run<T>(what: string, expectation: string, work: () => Promise<T>): Promise<T>;
}

export function stepsTo(write: (text: string) => void): Steps {
  return {
    async run(what, expectation, work) {
      const started = performance.now();
      write(`  ${what} (${expectation}) … `);
      try {
        const result = await work();
        write(`${((performance.now() - started) / 1000).toFixed(1)} s\n`);
        return result;
      } catch (error) {
        write('failed\n');
        throw error;
      }
    },
  };
}

/** Something on this machine is missing or in the way; the message says what to do. */
export class SetupProblem extends Error {
  override readonly name = 'SetupProblem';
}
