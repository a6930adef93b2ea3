/** Questions about users and items over HTTP, other than recommendations. */
import { idOf } from '@freshet/events';
import {
  answer,
  fallbackSchema,
  type HttpLimits,
  idSchema,
  itemsSchema,
  modelSchema,
  object,
} from './answer-schemas.ts';
import type { Routes } from './http-api.ts';
import type { Insights } from './insights.ts';

const common = { model: modelSchema, fallback: fallbackSchema } as const;

function count({ items }: HttpLimits) {
  return object({ n: { type: 'integer', minimum: 1, maximum: items, default: 10 } });
}

export function insightRoutes(insights: Insights): Routes {
  return (api, limits) => {
    itemRoutes(insights)(api, limits);
    userRoutes(insights)(api, limits);
  };
}

function itemRoutes(insights: Insights): Routes {
  return (api, limits) => {
    const querystring = count(limits);
    const list = { items: itemsSchema, ...common };
    const popular = {
      summary: 'what is rated most now',
      querystring,
      response: { 200: answer(list) },
    };
    api.get<{ Querystring: { n: number } }>(
      '/v1/items/popular',
      { schema: popular },
      async ({ query }) => insights.popular(query.n),
    );
    const response = { 200: answer({ item: { type: 'string' }, ...list }) };
    const aboutOne = { params: object({ item: idSchema }), querystring, response };
    const similar = {
      summary: 'the items most like one, by the cosine of their factors',
      ...aboutOne,
    };
    api.get<{ Params: { item: string }; Querystring: { n: number } }>(
      '/v1/items/:item/similar',
      { schema: similar },
      async ({ params, query }) => insights.similar(idOf('item', params.item), query.n),
    );
    const next = {
      summary: 'the items that users rated after one, by how much more often than chance',
      ...aboutOne,
    };
    api.get<{ Params: { item: string }; Querystring: { n: number } }>(
      '/v1/items/:item/next',
      { schema: next },
      async ({ params, query }) => insights.next(idOf('item', params.item), query.n),
    );
  };
}

function userRoutes(insights: Insights): Routes {
  return (api, limits) => {
    const user = { type: 'string' };
    const estimate = answer({
      item: { type: 'string' },
      score: {
        type: ['number', 'null'],
        description: 'what lists are ordered by; null for an item that nobody has rated',
      },
      expectedValue: {
        type: 'number',
        description: 'the value that the user would give the item, on the scale of the ratings',
      },
    });
    const estimates = {
      summary:
        'the score and the expected value of items for a user; the items are separated by commas',
      // The list is split from the URL: here it is for the document alone.
      params: object({
        user: idSchema,
        items: { type: 'array', items: idSchema, minItems: 1, maxItems: limits.ids },
      }),
      response: { 200: answer({ user, items: { type: 'array', items: estimate }, ...common }) },
    };
    api.get<{ Params: { user: string } }>(
      '/v1/estimates/:user/:items',
      { schema: estimates },
      async ({ params, url }) =>
        insights.estimates(idOf('user', params.user), lastSegments(url, limits.ids)),
    );
    const because = {
      summary: "the parts of an item's score, such as the user's ratings; they add up to the score",
      params: object({ user: idSchema, item: idSchema }),
      response: { 200: answer({ user, ...reasons, ...common }) },
    };
    api.get<{ Params: { user: string; item: string } }>(
      '/v1/users/:user/because/:item',
      { schema: because },
      async ({ params }) => insights.because(idOf('user', params.user), idOf('item', params.item)),
    );
    const rating = answer({
      item: { type: 'string' },
      value: { type: 'number' },
      time: { type: 'number' },
    });
    const known = {
      summary: 'the ratings of a user and how fresh they are',
      params: object({ user: idSchema }),
      response: { 200: answer({ user, ratings: { type: 'array', items: rating }, ...common }) },
    };
    api.get<{ Params: { user: string } }>(
      '/v1/users/:user',
      { schema: known },
      async ({ params }) => insights.user(idOf('user', params.user)),
    );
  };
}

const reasons = {
  score: { type: 'number' },
  contributions: {
    type: 'array',
    items: answer({
      item: { type: 'string' },
      value: { type: 'number' },
      contribution: { type: 'number' },
    }),
  },
  popular: { type: 'number', description: 'from how often the item is rated, in all and lately' },
  newcomers: { type: 'number', description: 'from how often newcomers rate the item' },
  mean: { type: 'number', description: 'what the mean vector of all users adds to the score' },
  after: {
    type: 'array',
    description: 'from items that the user rated last and that this one often comes after',
    items: answer({ item: { type: 'string' }, contribution: { type: 'number' } }),
  },
  rest: {
    type: 'number',
    description:
      'the part that the others do not explain, because the vector has not fully converged',
  },
};

/** Splits before decoding: a comma within an id is percent-encoded. */
function lastSegments(url: string, most: number): string[] {
  const path = url.replace(/\?.*$/s, '');
  const parts = path.slice(path.lastIndexOf('/') + 1).split(',');
  if (parts.length > most) throw new TooMany(`at most ${most} items at once`);
  return parts.map((part) => idOf('item', decodeURIComponent(part)));
}

class TooMany extends Error {
  override readonly name = 'TooMany';
  readonly statusCode = 400;
}
