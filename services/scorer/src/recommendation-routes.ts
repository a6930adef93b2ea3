/** Lists over HTTP: for a user, for many users, for a guest who brings a few ratings. */
import { idOf } from '@freshet/events';
import type { GuestFolder, GuestRating } from '@freshet/model';
import {
  afterSchema,
  answer,
  bodyIdSchema,
  idSchema,
  recommendationSchema,
  type WishFields,
  wishesOf,
  wishSchemas,
} from './answer-schemas.ts';
import type { Catalogue } from './catalogue.ts';
import { refuseGuesses } from './given-values.ts';
import type { Routes } from './http-api.ts';
import { JSON_TYPE } from './quick-answers.ts';
import type { Recommender } from './recommender.ts';

export function recommendationRoutes(recommender: Pick<Recommender, 'recommendInJson'>): Routes {
  return (api, limits) => {
    const schema = {
      summary: 'the best items for a user',
      params: { type: 'object', properties: { user: idSchema } },
      querystring: {
        type: 'object',
        properties: { ...wishSchemas(limits), after: afterSchema },
      },
      response: { 200: recommendationSchema },
    };
    api.get<{ Params: { user: string }; Querystring: WishFields }>(
      '/v1/recommendations/:user',
      { schema },
      async ({ params, query }, reply) => {
        const user = idOf('user', params.user);
        const json = await recommender.recommendInJson(user, query.n, wishesOf(query));
        return reply.type(JSON_TYPE).send(json);
      },
    );
  };
}

interface BatchBody extends WishFields {
  users: string[];
}

export function batchRoutes(recommender: Pick<Recommender, 'recommend'>): Routes {
  return (api, limits) => {
    const schema = {
      summary: 'the best items for each of several users',
      body: {
        type: 'object',
        required: ['users'],
        properties: {
          users: { type: 'array', items: bodyIdSchema, minItems: 1, maxItems: limits.users },
          ...wishSchemas(limits),
        },
      },
      response: {
        200: answer({ recommendations: { type: 'array', items: recommendationSchema } }),
      },
    };
    const options = { schema, preValidation: refuseGuesses };
    api.post<{ Body: BatchBody }>('/v1/recommendations/batch', options, async ({ body }) => {
      const users = body.users.map((user) => idOf('user', user));
      const answers = users.map((user) => recommender.recommend(user, body.n, wishesOf(body)));
      return { recommendations: await Promise.all(answers) };
    });
  };
}

interface GuestBody extends WishFields {
  ratings: GuestRating[];
}

interface GuestCollaborators {
  readonly recommender: Pick<Recommender, 'recommendTo'>;
  readonly guests: Pick<GuestFolder, 'fold'>;
  readonly catalogue: Pick<Catalogue, 'knownSlots'>;
  readonly ratingMax: number;
}

export function guestRoutes(collaborators: GuestCollaborators): Routes {
  const { recommender, guests, catalogue, ratingMax } = collaborators;
  return (api, limits) => {
    const rating = {
      type: 'object',
      required: ['item'],
      properties: {
        item: bodyIdSchema,
        value: { type: 'number', minimum: 0, maximum: ratingMax, default: 1 },
      },
    };
    const { user: _, ...list } = recommendationSchema.properties;
    const schema = {
      summary: 'the best items for somebody with these ratings, oldest first; nothing is stored',
      body: {
        type: 'object',
        required: ['ratings'],
        properties: {
          ratings: { type: 'array', items: rating, maxItems: limits.ids },
          ...wishSchemas(limits),
        },
      },
      response: { 200: answer(list) },
    };
    const options = { schema, preValidation: refuseGuesses };
    api.post<{ Body: GuestBody }>('/v1/recommendations', options, async ({ body }) => {
      const rated = catalogue.knownSlots(body.ratings.map(({ item }) => item));
      const vector = guests.fold(body.ratings);
      return recommender.recommendTo(vector, rated, body.n, wishesOf(body));
    });
  };
}
