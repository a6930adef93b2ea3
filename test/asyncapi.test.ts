/**
 * The AsyncAPI document: by the rules of AsyncAPI, up to date in docs/, and true of what services
 * read and write.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { readSettings } from '@freshet/config';
import {
  asPoison,
  decodeItemMetadata,
  decodeRecommendationRequest,
  encodeRecommendation,
  RatingReader,
  type Recommendation,
  ratingRules,
  topics,
} from '@freshet/events';
import { deadLetter } from '@freshet/stream';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { asyncapiDocument } from '../packages/cli/src/asyncapi/document.ts';

const specs = createRequire(import.meta.url)('@asyncapi/specs');
const ajv = new Ajv({ strict: false, validateFormats: false, allowUnionTypes: true });
const isAsyncapi = ajv.compile(specs.schemasWithoutId['3.0.0']);

const documentOf = (environment: Record<string, string> = {}) =>
  asyncapiDocument(readSettings(environment));

/** What a message of the document says of a payload or its headers; null if it fits. */
function problemsOf(
  name: string,
  part: 'payload' | 'headers',
  value: unknown,
  environment: Record<string, string> = {},
) {
  const message = documentOf(environment).components.messages[name] as Record<string, object>;
  const fits = ajv.compile(message[part] ?? {});
  return fits(value) ? null : (fits.errors ?? []).map(({ instancePath }) => instancePath);
}

const secured = {
  KAFKA_BROKERS: 'b1:9093,b2:9093',
  KAFKA_SECURITY_PROTOCOL: 'SASL_SSL',
  KAFKA_SASL_USERNAME: 'ada',
  KAFKA_SASL_PASSWORD: 'hush',
};

describe('the AsyncAPI document', () => {
  it.each([
    ['by default', {}],
    [
      'of other topics and fields',
      { RATINGS_TOPICS: 'web.clicks,orders', RATING_FIELDS: 'user=a.b' },
    ],
    ['of a secured Kafka', secured],
    [
      'of a Kafka with tokens',
      {
        KAFKA_SASL_MECHANISM: 'OAUTHBEARER',
        KAFKA_SASL_OAUTHBEARER_TOKEN_ENDPOINT_URL: 'https://sso/token',
        KAFKA_SASL_OAUTHBEARER_CLIENT_ID: 'freshet',
        KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: 'hush',
      },
    ],
  ])('is one by the schema of AsyncAPI 3.0, %s', (_, environment) => {
    const document = documentOf(environment);
    expect(isAsyncapi(document), JSON.stringify(isAsyncapi.errors?.slice(0, 3))).toBe(true);
    expect(JSON.stringify(document)).not.toContain('hush');
  });

  it('would be refused with a field that AsyncAPI does not know', () => {
    expect(isAsyncapi({ ...documentOf(), topics: {} })).toBe(false);
    const { channels, ...rest } = documentOf();
    const misspelt = { ...channels, ratings: { ...channels.ratings, adress: 'ratings' } };
    expect(isAsyncapi({ ...rest, channels: misspelt })).toBe(false);
  });

  it('has every topic that is not internal, and the brokers of the settings', () => {
    const shared = Object.values(topics).filter(({ scope }) => scope === 'shared');
    expect(Object.keys(documentOf().channels).sort()).toEqual(
      shared.map(({ name }) => name).sort(),
    );
    const { servers, channels, components } = documentOf({ ...secured, RATINGS_TOPICS: 'a,b' });
    expect(Object.values(servers)).toMatchObject([
      { host: 'b1:9093', protocol: 'kafka-secure' },
      { host: 'b2:9093', protocol: 'kafka-secure' },
    ]);
    expect(Object.keys(channels)).toEqual(expect.arrayContaining(['a', 'b']));
    expect(channels).not.toHaveProperty('ratings');
    expect(components.securitySchemes).toEqual({ sasl: { type: 'scramSha512' } });
  });

  it('refers only to what it has', () => {
    const document = documentOf({ RATINGS_TOPICS: 'web.clicks,orders' });
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(10);
    for (const [, path = ''] of references) {
      const found = path.split('/').reduce<unknown>((at, step) => Object(at)[step], document);
      expect(found, path).toBeDefined();
    }
  });

  it('is in docs/ as `freshet asyncapi` prints it by default', () => {
    const page = readFileSync(new URL('../docs/asyncapi.json', import.meta.url), 'utf8');
    expect(page).toBe(`${JSON.stringify(documentOf(), null, 2)}\n`);
  });
});

describe('a message of the AsyncAPI document', () => {
  const bytes = (value: object) => Buffer.from(JSON.stringify(value));

  it('is a rating that intake takes, and one that it refuses is none', () => {
    const environment = {
      RATING_FIELDS: 'user=who.id,item=sku',
      RATING_KINDS: 'view:1,buy:5',
      RATING_MAX: '10',
    };
    const reader = new RatingReader(ratingRules(readSettings(environment)));
    const isTaken = (value: object) => {
      try {
        return reader.read({ key: null, value: bytes(value), timestamp: Date.now() }) !== undefined;
      } catch {
        return false;
      }
    };
    const good = { who: { id: 7 }, sku: 'tea', value: 3, time: 1_700_000_000, kind: 'view' };
    const cases = [
      good,
      { who: { id: 'ann' }, sku: 'tea' },
      { ...good, value: null },
      { ...good, value: 11 },
      { ...good, value: -1 },
      { ...good, kind: 'scroll' },
      { ...good, who: {} },
      { ...good, sku: '' },
      { who: { id: 7 } },
    ];
    for (const rating of cases) {
      const fits = problemsOf('rating', 'payload', rating, environment) === null;
      expect(fits, JSON.stringify(rating)).toBe(isTaken(rating));
    }
  });

  it('is a request that scorers take, and one that they refuse is none', () => {
    const isTaken = (value: object) => {
      try {
        return decodeRecommendationRequest(bytes(value)) !== undefined;
      } catch {
        return false;
      }
    };
    for (const request of [{ user: 'ann' }, { user: 7, n: 1_000 }, { user: 'ann', n: 0 }, {}]) {
      const fits = problemsOf('request', 'payload', request) === null;
      expect(fits, JSON.stringify(request)).toBe(isTaken(request));
    }
  });

  it('is a recommendation as scorers encode it', () => {
    const answer: Recommendation = {
      user: 'ann',
      items: [{ item: 'tea', score: 1.5, title: 'Tea', categories: ['drinks'] }],
      model: { name: 'default', position: 7, sequence: 2, lag: { ratings: 0, ms: 0 } },
      fallback: null,
    };
    const sent = (given: Recommendation) => JSON.parse(String(encodeRecommendation(given, 'json')));
    expect(problemsOf('recommendation', 'payload', sent(answer))).toBeNull();
    const empty = { ...answer, items: [], model: { name: 'm', position: null, lag: null } };
    const newcomer = sent({ ...empty, fallback: 'newcomer' });
    expect(problemsOf('recommendation', 'payload', newcomer)).toBeNull();
    expect(problemsOf('recommendation', 'payload', { ...newcomer, fallback: 'x' })).not.toBeNull();
  });

  it('is the metadata of an item as scorers take it', () => {
    const item = { title: 'Tea', categories: ['drinks'], withdrawn: false };
    expect(problemsOf('itemMetadata', 'payload', item)).toBeNull();
    expect(decodeItemMetadata(Buffer.from('tea'), bytes(item))[1]).toEqual(item);
    expect(problemsOf('itemMetadata', 'payload', { withdrawn: 'yes' })).not.toBeNull();
  });

  it('is a dead letter by its headers', () => {
    const record = { offset: 3, timestamp: 0, key: null, value: bytes({}), headers: {} };
    const place = { topic: 'ratings', partition: 0 };
    const { headers } = deadLetter('m', place, record, asPoison(new Error('why')));
    expect(problemsOf('deadLetter', 'headers', headers)).toBeNull();
    expect(problemsOf('deadLetter', 'headers', {})).not.toBeNull();
  });
});
