/** Decodes records of the items topic: title and categories of an item, and its withdrawal. */
import { isUtf8 } from 'node:buffer';
import { idOf } from './entity-id.ts';
import { readJsonObject } from './json-object.ts';
import { PoisonRecord } from './poison-record.ts';

export interface ItemMetadata {
  readonly title?: string;
  readonly categories: readonly string[];
  /** A withdrawn item is not recommended. */
  readonly withdrawn: boolean;
}

const RECORD_BYTES_LIMIT = 64 << 10;
const CATEGORIES_LIMIT = 64;

/** The item and its metadata; null if the record removes them. */
export function decodeItemMetadata(
  key: Buffer | null,
  value: Buffer | null,
): readonly [item: string, metadata: ItemMetadata | null] {
  if (key === null || !isUtf8(key)) throw new PoisonRecord('bad-id', 'the key must be the item');
  const item = idOf('key', key.toString());
  if (value === null) return [item, null];
  if (value.length > RECORD_BYTES_LIMIT) {
    throw new PoisonRecord('too-large', `${value.length} bytes, at most ${RECORD_BYTES_LIMIT}`);
  }
  const { title, categories = [], withdrawn = false } = readJsonObject(value, 'not JSON');
  const isList = Array.isArray(categories) && categories.every((each) => typeof each === 'string');
  if (!isList || categories.length > CATEGORIES_LIMIT) {
    throw new PoisonRecord('bad-value', `categories must be at most ${CATEGORIES_LIMIT} strings`);
  }
  if (typeof withdrawn !== 'boolean') {
    throw new PoisonRecord('bad-value', 'withdrawn must be true or false');
  }
  if (title !== undefined && title !== null && typeof title !== 'string') {
    throw new PoisonRecord('bad-value', 'title must be a string');
  }
  return [item, { ...(typeof title === 'string' ? { title } : {}), categories, withdrawn }];
}
