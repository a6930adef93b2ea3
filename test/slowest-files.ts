/**
 * Shows at the end of a run where its time went: the ten slowest files, and the slowest test of
 * each.
 */
import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 10;
const NAME_COLUMNS = 60;

const seconds = (milliseconds = 0): string => `${(milliseconds / 1_000).toFixed(1)} s`.padStart(8);

function lineOf(module: TestModule): string {
  const durationOf = (test: { diagnostic(): { duration: number } | undefined }) =>
    test.diagnostic()?.duration ?? 0; // one that was skipped took no time
  const [slowest] = [...module.children.allTests()].sort((a, b) => durationOf(b) - durationOf(a));
  const own = slowest === undefined ? '' : `${seconds(durationOf(slowest))}  ${slowest.name}`;
  return `${seconds(module.diagnostic().duration)}  ${module.relativeModuleId.padEnd(NAME_COLUMNS)}${own}`;
}

export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= SHOWN) return;
    const slowest = modules
      .toSorted((a, b) => b.diagnostic().duration - a.diagnostic().duration)
      .slice(0, SHOWN);
    process.stdout.write(
      `\n The slowest ${SHOWN} files, and the slowest test of each:\n${slowest.map(lineOf).join('\n')}\n`,
    );
  }
}
