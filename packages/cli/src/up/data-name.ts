/**
 * The name of the data folder of a run. Each file of ratings, and each model on another Kafka
 * (`brokers`), has a folder of its own: so nothing is mixed with the films of the demo, and several
 * models can run side by side.
 */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { settings } from '@freshet/config';
import { STORE_FORMAT } from '@freshet/session';
import type { RatingsFile } from '../import/file-ratings.ts';

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
  // Version 0.1.0 did not know these: where they are absent, its folders are found again.
  const later = [dates, kinds?.size ? [...kinds] : undefined, ownModel];
  const own = [path && realpathSync(path), format, columns, brokers, ...later.filter(Boolean)];
  if (own.every((part) => part === undefined)) return first;
  const shown = file ? basename(file.path) : (brokers?.[0] ?? '');
  const hash = createHash('sha256').update(JSON.stringify(own)).digest('hex').slice(0, 8);
  return `${first}-${shown.replace(/[^A-Za-z0-9]+/g, '-')}-${hash}`;
}
