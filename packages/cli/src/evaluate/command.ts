/**
 * `freshet evaluate`: reads a file of ratings, runs one protocol of the paper on it, and prints the
 * results as tables or JSON, or writes a page or a curve. It measures by the experiments package.
 */
import { writeFileSync } from 'node:fs';
import { settingsOrExit } from '@freshet/config';
import {
  loadTable,
  NotEnoughRatings,
  type RatingTable,
  ResultsFile,
  Runner,
  renderPage,
  renderText,
} from '@freshet/experiments';
import { BadModelSettings } from '@freshet/model';
import { type FileRating, readRatingBatches, UnreadableRatings } from '@freshet/ratings-files';
import { isOfFile, WrongUsage } from '../operator-command.ts';
import { ProgressLine } from '../progress-line.ts';
import { SkippedLines } from '../ratings-file-options.ts';
import { helpText } from './options.ts';
import { type Outcome, runProtocol, toJson } from './outcome.ts';
import { type Request, readRequest } from './request.ts';

const exitCodes = { done: 0, cannot: 1, usage: 2, interrupted: 130 } as const;

export async function evaluate(args: readonly string[]): Promise<number> {
  try {
    const request = readRequest(args);
    if (request) return await answer(request);
    process.stdout.write(helpText());
    return exitCodes.done;
  } catch (error) {
    const code = exitCodeOf(error);
    if (code === undefined) throw error;
    process.stderr.write(`freshet evaluate: ${(error as Error).message}\n`);
    if (code === exitCodes.usage) {
      process.stderr.write('freshet evaluate --help lists all options\n');
    }
    return code;
  }
}

/** Undefined for a bug of ours. */
function exitCodeOf(error: unknown): number | undefined {
  if (error instanceof WrongUsage || error instanceof BadModelSettings) return exitCodes.usage;
  const isOfData = error instanceof NotEnoughRatings || error instanceof UnreadableRatings;
  return isOfData || isOfFile(error) ? exitCodes.cannot : undefined;
}

async function answer(request: Request): Promise<number> {
  const startedMs = performance.now();
  const line = new ProgressLine(request.quiet);
  const table = await load(request, line);
  const stop = new AbortController();
  const onInterrupt = () => stop.abort();
  process.once('SIGINT', onInterrupt);
  const runner = new Runner(table, {
    workers: request.workers,
    signal: stop.signal,
    ...(request.gridFile !== undefined && { file: new ResultsFile(request.gridFile, table) }),
    onProgress: ({ finished, total, share, secondsLeft }) =>
      line.show(`${finished} of ${total} runs`, share, secondsLeft),
  });
  const outcome = await runProtocol[request.protocol](request, runner);
  process.removeListener('SIGINT', onInterrupt);
  line.clear();
  const seconds = (performance.now() - startedMs) / 1_000;
  const { user, system } = process.cpuUsage();
  const cpuSeconds = (user + system) / 1e6;
  publish(request, table, outcome, { seconds, cpuSeconds, interrupted: runner.interrupted });
  return runner.interrupted ? exitCodes.interrupted : exitCodes.done;
}

async function load(request: Request, line: ProgressLine): Promise<RatingTable> {
  const { ratings: path, reading, shuffleTies } = request;
  const skipped = new SkippedLines(path);
  const lacks: string[] = [];
  const batches = readRatingBatches(path, {
    ...reading,
    onProgress: (share, ratings) => line.show(`${ratings} ratings read`, share),
    kinds: settingsOrExit().RATING_KINDS,
    onMalformed: skipped.add,
    onLack: (lack) => void lacks.push(lack),
  });
  const table = await loadTable(withoutRemovals(batches), {
    ...(shuffleTies !== undefined && { shuffleTies }),
  });
  line.clear();
  skipped.tellRest();
  for (const lack of lacks) process.stderr.write(`${path} ${lack}\n`);
  return table;
}

/** An event that takes a rating back is neither learnt nor predicted. */
async function* withoutRemovals(batches: AsyncIterable<readonly FileRating[]>) {
  for await (const batch of batches) yield batch.filter(({ value }) => value !== null);
}

/** What the run cost. CPU time is that of all threads, and does not depend on other load. */
interface Run {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly interrupted: boolean;
}

function publish(request: Request, table: RatingTable, outcome: Outcome, run: Run): void {
  const data = {
    file: request.ratings,
    ratings: table.user.length,
    users: table.users.length,
    items: table.items.length,
    timed: table.timed,
  };
  const size = `${data.ratings} ratings, ${data.users} users, ${data.items} items`;
  // The peak of the whole process, with its workers.
  const peakMemoryMb = Math.round(process.resourceUsage().maxRSS / 1_024);
  if (request.json) {
    const all = { protocol: request.protocol, data, ...run, peakMemoryMb, ...outcome.json };
    process.stdout.write(`${JSON.stringify(toJson(all), null, 2)}\n`);
  } else {
    const summary = `${size}; ${costOf(run)}, ${peakMemoryMb} MB at most`;
    const stopped = run.interrupted
      ? 'Interrupted: what follows is what was measured by then.\n\n'
      : '';
    process.stdout.write(`${stopped}${renderText(outcome.sections)}\n${summary}\n`);
  }
  if (request.report !== undefined) {
    const facts = [
      ['data', size],
      ['seed', String(request.seed)],
      ['time', costOf(run)],
      ...(run.interrupted ? [['state', 'interrupted'] as const] : []),
    ] as const;
    const title = `Freshet: ${request.protocol} evaluation`;
    writeFileSync(request.report, renderPage({ title, facts, sections: outcome.sections }));
  }
  if (request.curve !== undefined && outcome.curve !== undefined && !run.interrupted) {
    writeFileSync(request.curve, `${JSON.stringify(outcome.curve, null, 2)}\n`);
  }
}

function costOf({ seconds, cpuSeconds }: Run): string {
  return `${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of processor time`;
}
