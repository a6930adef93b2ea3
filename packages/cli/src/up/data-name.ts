/**
 * Which folder holds the data of a run? The ratings of each file, and those on each Kafka of the
 * user's, have a folder of their own: in the folder of the demo they would be mixed with its films,
 * and Redis would hold positions of another Kafka.
 */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { STORE_FORMAT } from '@freshet/session';
import type { RatingsFile } from './own-ratings.ts';

/** `brokers`: of a Kafka that runs elsewhere. */
export function dataName(
  file: RatingsFile | undefined,
  brokers: readonly string[] | undefined,
): string {
  // Each store format has a folder of its own: this version could not read the data of another.
  const first = `up-${STORE_FORMAT}`;
  const own = [file && realpathSync(file.path), file?.format, file?.columns, brokers];
  if (own.every((part) => part === undefined)) return first;
  const shown = file ? basename(file.path) : (brokers?.[0] ?? '');
  const hash = createHash('sha256').update(JSON.stringify(own)).digest('hex').slice(0, 8);
  return `${first}-${shown.replace(/[^A-Za-z0-9]+/g, '-')}-${hash}`;
}
