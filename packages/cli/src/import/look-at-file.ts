/**
 * What is in a file of ratings? Its beginning is read before anything is started or sent, so that a
 * mistake in it, or in what the operator says of it, is told at once.
 */
import { statSync } from 'node:fs';
import { PoisonRecord, type RatingReader } from '@freshet/events';
import { type FileRating, UnreadableRatings } from '@freshet/ratings-files';
import { fileRatings, type RatingsFile } from './file-ratings.ts';
import { encoded } from './rating-chunks.ts';

/** Enough to see whether the file has the format that its first line suggests. */
const RATINGS_LOOKED_AT = 10_000;

/** If more ratings would be parked, the file means something else than the settings expect. */
const REFUSED_SHARE = 0.01;

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
  const refused: PoisonRecord[] = [];
  let first: FileRating | undefined;
  let ratings = 0;
  const watch = {
    onMalformed: () => {},
    onTotal: () => {},
    onLack: (lack: string) => void lacks.push(lack),
  };
  for await (const batch of fileRatings(file, false, watch)) {
    first ??= batch[0];
    for (const rating of batch) {
      counts.set(rating.user, (counts.get(rating.user) ?? 0) + 1);
      const bytes = encoded(rating, reader);
      if (bytes instanceof PoisonRecord) refused.push(bytes);
    }
    ratings += batch.length;
    if (ratings >= RATINGS_LOOKED_AT) break;
  }
  const users = [...counts].sort(([, a], [, b]) => b - a);
  const example = users[Math.floor(users.length / 4)];
  if (first === undefined || example === undefined) {
    throw new UnreadableRatings(`${path} has no ratings`);
  }
  const [reason] = refused;
  if (reason !== undefined && refused.length > REFUSED_SHARE * ratings) {
    const mend =
      reason.reason === 'bad-value'
        ? ' Set RATING_MAX to the largest value, or say --columns value=none to count every line as 1.'
        : '';
    throw new UnreadableRatings(
      `${path}: ${refused.length} of the first ${ratings} ratings would be refused: ${reason.message}.${mend} Are the columns right (--columns)? The first rating was read as ${shown(first)}`,
    );
  }
  return { first, lacks, user: example[0] };
}

/** With a time that people can read: a column that is none gives a day in 1970. */
function shown({ time, ...rating }: FileRating): string {
  return JSON.stringify({ ...rating, ...(time !== undefined && { time: new Date(time) }) });
}

/** Whether it can be read twice, as a pipe cannot. Throws if there is no such file. */
export function isPlainFile(path: string): boolean {
  if (path === '-') return false;
  const found = statSync(path);
  return found.isFile() || found.isDirectory(); // which is refused when it is read
}

/** What the operator should know of the file before it is learnt. */
export function told({ path }: RatingsFile, { first, lacks }: Look): string[] {
  return [
    `the first rating of ${path}: ${shown(first)}`,
    ...lacks.map((lack) => `${path} ${lack}`),
  ];
}
