/** Rating, un-rating and forgetting over HTTP: 202 once Kafka has the record, applied later. */
import { idOf, TRACEPARENT, traceHeader } from '@freshet/events';
import { answer, bodyIdSchema, type HttpLimits, idSchema, object } from './answer-schemas.ts';
import { refuseGuesses } from './given-values.ts';
import type { Routes } from './http-api.ts';
import type { GivenRating, RatingLog } from './rating-log.ts';

const placeSchema = answer(
  { partition: { type: 'integer' }, offset: { type: 'integer' } },
  { title: 'Place' },
);

const ratingSchema = {
  title: 'Rating',
  type: 'object',
  required: ['user', 'item'],
  properties: {
    user: bodyIdSchema,
    item: bodyIdSchema,
    value: { type: ['number', 'null'], description: 'null takes the rating back; absent means 1' },
    time: {
      type: ['integer', 'null'],
      minimum: 0,
      description: 'in ms since 1970; absent or null means now',
    },
  },
} as const;

export function ratingRoutes(log: Pick<RatingLog, 'rate' | 'forget'>): Routes {
  return (api, limits) => {
    api.post<{ Body: GivenRating | GivenRating[] }>(
      '/v1/ratings',
      { schema: writingSchema(limits), preValidation: refuseGuesses },
      async ({ body, headers }, reply) => {
        const trace = traceHeader(headers[TRACEPARENT]);
        const ratings = await log.rate(Array.isArray(body) ? body : [body], trace);
        return reply.code(202).send({ ratings });
      },
    );
    const one = {
      summary: 'take a rating back',
      params: object({ user: idSchema, item: idSchema }),
      response: { 202: placeSchema },
    };
    api.delete<{ Params: { user: string; item: string } }>(
      '/v1/ratings/:user/:item',
      { schema: one },
      async ({ params, headers }, reply) => {
        const [user, item] = [idOf('user', params.user), idOf('item', params.item)];
        const trace = traceHeader(headers[TRACEPARENT]);
        const [place] = await log.rate([{ user, item, value: null }], trace);
        return reply.code(202).send(place);
      },
    );
    const all = {
      summary: 'forget a user: all ratings, and everything that is stored under the id',
      params: object({ user: idSchema }),
      response: { 202: placeSchema },
    };
    api.delete<{ Params: { user: string } }>(
      '/v1/users/:user',
      { schema: all },
      async ({ params, headers }, reply) => {
        const trace = traceHeader(headers[TRACEPARENT]);
        return reply.code(202).send(await log.forget(idOf('user', params.user), trace));
      },
    );
  };
}

function writingSchema({ users }: HttpLimits) {
  const many = { type: 'array', items: ratingSchema, minItems: 1, maxItems: users };
  return {
    summary:
      'rate one or many items; the answer has the partition and offset of each rating, for after=',
    body: { anyOf: [ratingSchema, many] },
    response: { 202: answer({ ratings: { type: 'array', items: placeSchema } }) },
  };
}
