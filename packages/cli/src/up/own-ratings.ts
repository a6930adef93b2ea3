/**
 * `freshet up --ratings FILE`: the ratings of a file in place of the demo. The file is looked at
 * before anything is started, so that a mistake in it is told at once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ScorerAddress, Settings } from '@freshet/config';
import { SetupProblem } from '@freshet/local';
import { UnreadableRatings } from '@freshet/ratings-files';
import type { Brokers } from '@freshet/session';
import type { RatingsFile } from '../import/file-ratings.ts';
import { importFile } from '../import/import-file.ts';
import { isPlainFile, type Look, lookAtFile } from '../import/look-at-file.ts';
import { waitUntilApplied } from '../import/wait-until-applied.ts';
import { CannotWork, isOfFile, type Place, ratingReader } from '../operator-command.ts';
import { askScorer } from './ask-scorer.ts';

const LIST_LIMIT_MS = 10_000;
const LIST_LENGTH = 5;
/** A short list that stays the same for so long is complete: the user has rated the other items. */
const SETTLED_MS = 2_000;
const POLL_MS = 100;

/** Checks the file before anything is started. */
export async function lookAtOwn(file: RatingsFile, given: Settings): Promise<Look> {
  try {
    if (isPlainFile(file.path)) return await lookAtFile(file, ratingReader(given));
  } catch (error) {
    if (!(error instanceof UnreadableRatings || isOfFile(error))) throw error;
    throw new SetupProblem((error as Error).message);
  }
  throw new SetupProblem(
    `${file.path} is a pipe, which can be read only once: save it as a file, plain or gzip`,
  );
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
  const request = { ...file, 'by-time': true, quiet: false };
  try {
    await importFile(request, place, brokers);
    signal.throwIfAborted();
    await waitUntilApplied(place, brokers, { quiet: false, signal });
  } catch (error) {
    if (!(error instanceof CannotWork || error instanceof UnreadableRatings)) throw error;
    throw new SetupProblem(error.message);
  }
}

/**
 * Waits until the scorer has a list of the user's own, and returns its items; undefined if not. The
 * scorer reads the vectors of items behind the updater: a short list may still grow.
 */
export async function listOf(
  user: string,
  scorer: ScorerAddress,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const until = performance.now() + LIST_LIMIT_MS;
  let found: readonly string[] | undefined;
  let since = 0;
  while (!signal.aborted && performance.now() < until) {
    const answer = await askScorer(scorer, user, `n=${LIST_LENGTH}`);
    if (answer?.fallback === null) {
      const items = answer.items.map(({ item }) => item);
      if (items.length === LIST_LENGTH) return items;
      if (items.length !== found?.length) since = performance.now();
      else if (performance.now() - since > SETTLED_MS) return items;
      found = items;
    }
    await pause(POLL_MS);
  }
  return found;
}
