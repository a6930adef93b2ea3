/**
 * What is in a file of ratings? Its beginning is read before anything is started or sent, so that a
 * mistake in it, or in what the operator says of it, is told at once.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RatingReader } from '@freshet/events';
import { type FileRating, UnreadableRatings } from '@freshet/ratings-files';
import { fileRatings, type RatingsFile } from './file-ratings.ts';
import { IntakeCheck, shownRating } from './intake-check.ts';

/** Enough to see whether the file has the format that its first line suggests. */
const RATINGS_LOOKED_AT = 10_000;

export interface Look {
  readonly first: FileRating;
  /** What the file does not have, and what that means. */
  readonly lacks: readonly string[];
  /** A user with many ratings, as an example: three quarters of the users have fewer. */
  readonly user: string;
}

/** Throws UnreadableRatings if the file holds no ratings, or ratings that intake would park. */
export async function lookAtFile(
  file: RatingsFile,
  reader: Pick<RatingReader, 'read'>,
): Promise<Look> {
  const { path } = file;
  const counts = new Map<string, number>();
  const lacks: string[] = [];
  const check = new IntakeCheck(path, reader);
  let first: FileRating | undefined;
  let ratings = 0;
  const watch = { onTotal: () => {}, onLack: (lack: string) => void lacks.push(lack) };
  for await (const batch of fileRatings(file, false, watch)) {
    first ??= batch[0];
    for (const rating of batch) {
      counts.set(rating.user, (counts.get(rating.user) ?? 0) + 1);
      check.encoded(rating);
    }
    ratings += batch.length;
    if (ratings >= RATINGS_LOOKED_AT) break;
  }
  const users = [...counts].sort(([, a], [, b]) => b - a);
  const example = users[Math.floor(users.length / 4)];
  if (first === undefined || example === undefined) {
    throw new UnreadableRatings(`${path} has no ratings`);
  }
  check.judge();
  return { first, lacks, user: example[0] };
}

/** Whether it can be read twice, as a pipe cannot. Throws if there is no such file. */
export function isPlainFile(path: string): boolean {
  if (path === '-') return false;
  const found = statSync(resolve(path));
  return found.isFile() || found.isDirectory(); // which is refused when it is read
}

/** What the operator should know of the file before it is learnt. */
export function linesAbout({ path }: RatingsFile, { first, lacks }: Look): string[] {
  return [
    `the first rating of ${path}: ${shownRating(first)}`,
    ...lacks.map((lack) => `${path} ${lack}`),
  ];
}
