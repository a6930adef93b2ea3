/** The messages of the topics that others share with Freshet, as AsyncAPI describes them. */
import type { Settings } from '@freshet/config';
import {
  avroSchemas,
  idBytesLimit,
  poisonReasons,
  recommendationCountLimit,
  type topics,
} from '@freshet/events';

type Table = typeof topics;
/** The topics of the table that are not internal. */
export type PublicTopic = {
  [T in keyof Table]: Table[T]['scope'] extends 'shared' ? T : never;
}[keyof Table];

type Schema = Readonly<Record<string, unknown>>;

interface PublicMessages {
  /** What Freshet does: whoever reads the document does the opposite. */
  readonly actions: readonly ('send' | 'receive')[];
  readonly messages: Readonly<Record<string, Schema>>;
}

const text: Schema = { type: 'string' };
const id: Schema = {
  type: ['string', 'integer'],
  minLength: 1,
  maxLength: idBytesLimit,
  description: `Text of 1 to ${idBytesLimit} bytes of UTF-8, or a whole number, which is the same as its digits`,
};
const traceparent: Schema = { ...text, description: 'W3C trace context' };
const correlation = { location: '$message.header#/correlation-id' };

export function publicMessages(settings: Settings): Readonly<Record<PublicTopic, PublicMessages>> {
  const key = (description: string) => keyed({ ...text, description });
  const asked = { correlationId: correlation };
  const answered = { ...asked, bindings: key('The user') };
  return {
    ratings: {
      actions: ['receive', 'send'],
      messages: {
        rating: { ...json(ratingPayload(settings), { traceparent }), bindings: keyed(text) },
        ratingInAvro: avro(avroSchemas.rating, { traceparent }),
        forgottenUser: {
          summary: 'Without a value: forgets the user who is the key',
          payload: { type: 'null' },
          bindings: key('The user'),
        },
      },
    },
    items: {
      actions: ['receive'],
      messages: { itemMetadata: { ...json(itemPayload, {}), bindings: key('The item') } },
    },
    recommendationRequests: {
      actions: ['receive'],
      messages: {
        request: { ...json(requestPayload, requestHeaders), ...asked },
        requestInAvro: { ...avro(avroSchemas.recommendationRequest, requestHeaders), ...asked },
      },
    },
    recommendations: {
      actions: ['send'],
      messages: {
        recommendation: { ...json(recommendationPayload, answerHeaders), ...answered },
        recommendationInAvro: { ...avro(avroSchemas.recommendation, answerHeaders), ...answered },
      },
    },
    ratingsDeadLetter: {
      actions: ['send'],
      messages: {
        deadLetter: {
          summary: 'The key, bytes and headers of a record that can never be applied, and why',
          contentType: 'application/octet-stream',
          payload: {},
          headers: object({ ...letterHeaders, traceparent }, Object.keys(letterHeaders)),
        },
      },
    },
  };
}

function json(payload: Schema, headers: Readonly<Record<string, Schema>>): Schema {
  return { contentType: 'application/json', payload, headers: object(headers) };
}

/** A single object of Avro: two marker bytes, the fingerprint of the schema, the record. */
function avro(schema: object, headers: Readonly<Record<string, Schema>>): Schema {
  const payload = { schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema };
  return { contentType: 'avro/binary', payload, headers: object(headers) };
}

function object(properties: Readonly<Record<string, Schema>>, required?: readonly string[]) {
  return { type: 'object', properties, ...(required === undefined ? {} : { required }) };
}

function keyed(key: Schema): Schema {
  return { kafka: { key, bindingVersion: '0.5.0' } };
}

/** A rating with its fields where RATING_FIELDS looks for them. */
function ratingPayload({ RATING_FIELDS, RATING_KINDS, RATING_MAX }: Settings): Schema {
  const kinds = [...RATING_KINDS.keys()];
  const fields: Record<string, Schema> = {
    user: id,
    item: id,
    value: { type: ['number', 'null'], minimum: 0, maximum: RATING_MAX },
    time: { type: ['number', 'string'], description: 'Since 1970, in s, ms, µs or ns; ISO 8601' },
    ...(kinds.length === 0 ? {} : { kind: { type: 'string', enum: kinds } }),
  };
  let payload: Schema = object({});
  for (const [name, schema] of Object.entries(fields)) {
    const path = (RATING_FIELDS[name as 'user'] ?? name).split('.');
    payload = placed(payload, path, schema, name === 'user' || name === 'item');
  }
  return payload;
}

/** The schema of an object with one more field, which may lie in objects within it. */
function placed(at: Schema, [step = '', ...rest]: string[], schema: Schema, isNeeded: boolean) {
  const properties = (at.properties ?? {}) as Record<string, Schema>;
  const inner: Schema =
    rest.length === 0 ? schema : placed(properties[step] ?? object({}), rest, schema, isNeeded);
  const required = new Set((at.required ?? []) as string[]);
  if (isNeeded) required.add(step);
  return object({ ...properties, [step]: inner }, required.size === 0 ? undefined : [...required]);
}

const itemPayload = object({
  title: { type: ['string', 'null'] },
  categories: { type: 'array', items: text, maxItems: 64 },
  withdrawn: { type: 'boolean', description: 'A withdrawn item is not recommended' },
});

const requestPayload = object(
  {
    user: id,
    n: { type: 'integer', minimum: 1, maximum: recommendationCountLimit, default: 10 },
    model: { ...text, description: 'Absent: every model that reads the topic answers' },
  },
  ['user'],
);

const requestHeaders = {
  'correlation-id': { ...text, description: 'Comes back with the answer' },
  'reply-topic': { ...text, description: 'One of REPLY_TOPICS, for the answer' },
  deadline: { ...text, description: 'ms since 1970; a request is not answered after it' },
  traceparent,
};

const answerHeaders = {
  'correlation-id': text,
  traceparent,
  'freshet-push': { ...text, description: 'true: nobody asked, the vector of the user moved' },
  'freshet-error': { ...text, description: 'Why a request was refused' },
};

const whole: Schema = { type: 'integer', minimum: 0 };
const perhaps = (schema: Schema): Schema => ({ oneOf: [schema, { type: 'null' }] });

const categories: Schema = { type: 'array', items: text };
const item = { item: text, score: { type: 'number' }, title: text, categories };

const recommendationPayload = object(
  {
    user: text,
    items: { type: 'array', description: 'The best first', items: object(item, ['item', 'score']) },
    model: object(
      {
        name: text,
        position: perhaps(whole),
        sequence: perhaps(whole),
        lag: perhaps(object({ ratings: whole, ms: { type: 'number' } }, ['ratings', 'ms'])),
      },
      ['name', 'position'],
    ),
    fallback: { enum: [null, 'newcomer'] },
  },
  ['user', 'items', 'model', 'fallback'],
);

const letterHeaders = {
  'freshet-model': text,
  'freshet-topic': { ...text, description: 'Where the record came from' },
  'freshet-partition': text,
  'freshet-offset': text,
  'freshet-reason': { ...text, enum: poisonReasons },
  'freshet-message': text,
  'freshet-bytes': { ...text, description: 'The size of the whole value' },
};
