/**
 * `freshet up --ratings FILE`: the ratings of a file in place of the demo. The file is looked at
 * before anything is started, so that a mistake in it is told at once.
 */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ScorerAddress, type Settings, settings } from '@freshet/config';
import { SetupProblem } from '@freshet/local';
import { UnreadableRatings } from '@freshet/ratings-files';
import { type Brokers, STORE_FORMAT } from '@freshet/session';
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

/**
 * The name of the data folder of a run. Each file of ratings, and each model on another Kafka
 * (`brokers`), has a folder of its own: so nothing is mixed with the films of the demo, and several
 * models can run side by side.
 */
export function dataName(
  file: RatingsFile | undefined,
  brokers: readonly string[] | undefined,
  model: string,
): string {
  // Each store format has a folder of its own: this version could not read the data of another.
  const first = `up-${STORE_FORMAT}`;
  const { path, format, columns, dates, kinds } = file ?? {};
  const ownModel =
    brokers === undefined || model === settings.MODEL.fallback ? undefined : { model };
  const later = [dates, kinds?.size ? [...kinds] : undefined, ownModel];
  const own = [path && realpathSync(path), format, columns, brokers, ...later.filter(Boolean)];
  if (own.every((part) => part === undefined)) return first;
  const shown = file ? basename(file.path) : (brokers?.[0] ?? '');
  const hash = createHash('sha256').update(JSON.stringify(own)).digest('hex').slice(0, 8);
  return `${first}-${shown.replace(/[^A-Za-z0-9]+/g, '-')}-${hash}`;
}
