/**
 * `freshet up --ratings FILE`: the ratings of a file in place of the demo. The file is looked at
 * before anything is started, so that a mistake in it is told at once.
 */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ScorerAddress } from '@freshet/config';
import { SetupProblem } from '@freshet/local';
import { type FileRating, UnreadableRatings } from '@freshet/ratings-files';
import { type Brokers, STORE_FORMAT } from '@freshet/session';
import { fileRatings, type RatingsFile } from '../import/file-ratings.ts';
import { importFile } from '../import/import-file.ts';
import { waitUntilApplied } from '../import/wait-until-applied.ts';
import { CannotWork, isOfFile, type Place } from '../operator-command.ts';
import { askScorer } from './ask-scorer.ts';

/** As many as tell whether the file has the format that it seems to have. */
const RATINGS_LOOKED_AT = 10_000;
const LIST_LIMIT_MS = 10_000;
const POLL_MS = 100;

/** If more values are too large, they mean something else than the settings expect. */
const REFUSED_SHARE = 0.01;

/**
 * Reads the beginning of a file; throws if it holds no ratings, or other values than up to
 * `ratingMax`. Returns its first rating, and an example of a user to ask for: three quarters of
 * those that were read have fewer ratings.
 */
export async function lookAtFile(file: RatingsFile, ratingMax: number) {
  const counts = new Map<string, number>();
  let tooLarge = 0;
  let first: FileRating | undefined;
  let ratings = 0;
  const ignored = { onMalformed: () => {}, onTotal: () => {} };
  try {
    for await (const batch of fileRatings(file, false, ignored)) {
      first ??= batch[0];
      for (const { user, value } of batch) {
        counts.set(user, (counts.get(user) ?? 0) + 1);
        if (value > ratingMax) tooLarge++;
      }
      ratings += batch.length;
      if (ratings >= RATINGS_LOOKED_AT) break;
    }
  } catch (error) {
    if (!(error instanceof UnreadableRatings || isOfFile(error))) throw error;
    const { message } = error as Error;
    throw new SetupProblem(message.includes(file.path) ? message : `${file.path}: ${message}`);
  }
  const users = [...counts].sort(([, a], [, b]) => b - a);
  const example = users[Math.floor(users.length / 4)];
  if (first === undefined || example === undefined) {
    throw new SetupProblem(`${file.path} has no ratings`);
  }
  if (tooLarge > REFUSED_SHARE * ratings) {
    throw new SetupProblem(
      `${file.path}: of the first ${ratings} values, ${tooLarge} are above ${ratingMax}: set RATING_MAX to the largest, or say --columns value=none to count every line as 1`,
    );
  }
  return { user: example[0], first };
}

interface OwnRatings extends RatingsFile {
  readonly stateFolder: string | undefined;
  readonly signal: AbortSignal;
}

/** Sends the file, sorted by time, and waits until all of it is learnt. */
export async function learnFile(
  { signal, ...file }: OwnRatings,
  place: Place,
  brokers: Brokers,
): Promise<void> {
  const request = { ...file, 'by-time': true, again: false, quiet: false };
  try {
    const outcome = await importFile(request, place, brokers);
    signal.throwIfAborted();
    if (outcome && outcome.sent + outcome.skipped === 0) {
      throw new CannotWork(`${file.path}: no rating of it could be sent`);
    }
    await waitUntilApplied(place, brokers, { quiet: false, signal });
  } catch (error) {
    throw error instanceof CannotWork ? new SetupProblem(error.message) : error;
  }
}

/** Waits until the scorer has a list of the user's own, and returns its items; undefined if not. */
export async function listOf(
  user: string,
  scorer: ScorerAddress,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const until = performance.now() + LIST_LIMIT_MS;
  while (!signal.aborted && performance.now() < until) {
    const answer = await askScorer(scorer, user, 'n=5');
    if (answer?.fallback === null) return answer.items.map(({ item }) => item);
    await pause(POLL_MS);
  }
  return undefined;
}

/**
 * The folder of the data of a run. The ratings of each file, and those on each Kafka elsewhere
 * (`brokers`), have one of their own, so that they are not mixed with the films of the demo.
 */
export function dataName(
  file: RatingsFile | undefined,
  brokers: readonly string[] | undefined,
): string {
  // Each store format has a folder of its own: this version could not read the data of another.
  const first = `up-${STORE_FORMAT}`;
  const { path, format, columns, dates } = file ?? {};
  const own = [path && realpathSync(path), format, columns, brokers, ...(dates ? [dates] : [])];
  if (own.every((part) => part === undefined)) return first;
  const shown = file ? basename(file.path) : (brokers?.[0] ?? '');
  const hash = createHash('sha256').update(JSON.stringify(own)).digest('hex').slice(0, 8);
  return `${first}-${shown.replace(/[^A-Za-z0-9]+/g, '-')}-${hash}`;
}
