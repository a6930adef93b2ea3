/** Schemas that several routes share: requests are checked and documented by them. */
import type { Settings } from '@freshet/config';
import { idBytesLimit } from '@freshet/events';
import type { Wishes } from './recommender.ts';
import type { ProducedAt } from './source-names.ts';

/** Every limit on a request. */
export type HttpLimits = ReturnType<typeof limitsOf>;

export function limitsOf(settings: Settings) {
  return {
    bodyBytes: settings.HTTP_BODY_BYTES,
    /** How long a client may take to send its request. */
    requestMs: settings.HTTP_REQUEST_MS,
    items: settings.ANSWER_ITEMS,
    offset: settings.ANSWER_OFFSET,
    ids: settings.REQUEST_IDS,
    users: settings.REQUEST_USERS,
  };
}

export function object<P extends Record<string, unknown>>(properties: P) {
  return { type: 'object', properties } as const;
}

/** An answer with all of these fields but the optional ones: the types of clients rely on it. */
export function answer<P extends Record<string, unknown>>(
  properties: P,
  { title, optional = [] }: { title?: string; optional?: readonly (keyof P)[] } = {},
) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { ...(title === undefined ? {} : { title }), ...object(properties), required };
}

/** Without a limit on its length: ids are limited in bytes, which `idOf` counts. */
export const idSchema = { type: 'string', minLength: 1 } as const;
export const bodyIdSchema = { type: 'string', minLength: 1, maxLength: idBytesLimit } as const;

const lagSchema = answer(
  { ratings: { type: 'integer' }, ms: { type: 'number' } },
  { title: 'Lag' },
);

export const modelSchema = answer(
  {
    name: { type: 'string' },
    position: {
      type: ['integer', 'null'],
      description: 'offset after the last record of user-ratings that the user’s shard has applied',
    },
    sequence: {
      type: ['integer', 'null'],
      description: 'number of the last commit of that shard that the answer is known to include',
    },
    lag: {
      // Not type: ['object', 'null'], which generators of clients do not know.
      anyOf: [lagSchema, { type: 'null' }],
      description: 'ratings of all users that were produced and are not in answers yet',
    },
  },
  { title: 'ModelState' },
);

export const itemsSchema = {
  type: 'array',
  items: answer(
    {
      item: { type: 'string' },
      score: { type: 'number', description: 'what the list is ordered by; not a rating' },
      title: { type: 'string' },
      categories: { type: 'array', items: { type: 'string' } },
    },
    { title: 'ScoredItem', optional: ['title', 'categories'] },
  ),
} as const;

export const fallbackSchema = {
  enum: [null, 'newcomer'],
  description: 'newcomer: the user or item has no ratings; the list is the one that newcomers get',
} as const;

export const recommendationSchema = answer(
  {
    user: { type: 'string' },
    items: itemsSchema,
    model: modelSchema,
    fallback: fallbackSchema,
  },
  { title: 'Recommendation' },
);

/** Items of a list whose request does not say how many. */
export const DEFAULT_COUNT = 10;

/** The parameters of a list, in a query or in a body. */
export function wishSchemas({ items, offset, ids }: HttpLimits) {
  return {
    n: { type: 'integer', minimum: 1, maximum: items, default: DEFAULT_COUNT },
    offset: { type: 'integer', minimum: 0, maximum: offset, default: 0 },
    exclude: { type: 'array', items: bodyIdSchema, maxItems: ids },
    include_rated: { type: 'boolean', default: false },
    category: { type: 'string', minLength: 1, maxLength: idBytesLimit },
  } as const;
}

export interface WishFields {
  n: number;
  offset: number;
  exclude?: string[];
  include_rated: boolean;
  category?: string;
  after?: string;
}

export function wishesOf(fields: WishFields): Wishes {
  const { offset, exclude = [], include_rated, category, after } = fields;
  const wishes = { offset, exclude, includeRated: include_rated };
  if (category === undefined && after === undefined) return wishes;
  return {
    ...wishes,
    ...(category === undefined ? undefined : { category }),
    ...(after === undefined ? undefined : { after: placeOf(after) }),
  };
}

/** PARTITION:OFFSET of the topic for ratings over HTTP, or TOPIC/PARTITION:OFFSET of any source. */
export const afterSchema = {
  type: 'string',
  pattern: '^(?:[A-Za-z0-9._-]{1,249}/)?\\d{1,10}:\\d{1,15}$',
} as const;

function placeOf(after: string): ProducedAt {
  const [where = '', offset] = after.split(':');
  const [partition, topic] = where.split('/').reverse();
  const place = { partition: Number(partition), offset: Number(offset) };
  return topic === undefined ? place : { topic, ...place };
}
