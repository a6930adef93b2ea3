import { readFileSync } from 'node:fs';
import avro from 'avsc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AvroType } from './avro.ts';
import { PoisonRecord } from './poison-record.ts';
import { decodeRecommendationRequest, encodeRecommendation } from './recommendation.ts';

const readSchema = (file: string) =>
  readFileSync(new URL(`../schemas/${file}`, import.meta.url), 'utf8');
const decode = (text: string) => decodeRecommendationRequest(Buffer.from(text));

function reasonOf(text: string | Buffer | null): string {
  try {
    decodeRecommendationRequest(text === null ? null : Buffer.from(text));
  } catch (error) {
    if (error instanceof PoisonRecord) return error.reason;
    throw error;
  }
  return 'none';
}

describe('a recommendation request', () => {
  it('asks for ten items of every model unless it says otherwise', () => {
    expect(decode('{"user":"u"}')).toEqual({ user: 'u', n: 10, format: 'json' });
    expect(decode('{"user":"u","n":3,"model":"m"}')).toEqual({
      user: 'u',
      n: 3,
      model: 'm',
      format: 'json',
    });
  });

  it('may be written in Avro', () => {
    const type = new AvroType('recommendation-request.avsc');
    const bytes = type.encode({ user: 'u', n: 3, model: null });
    expect(decodeRecommendationRequest(bytes)).toEqual({ user: 'u', n: 3, format: 'avro' });
    expect(() => decodeRecommendationRequest(bytes.subarray(0, 11))).toThrow(PoisonRecord);
  });

  it('is refused by reason when it makes no sense', () => {
    expect(reasonOf(null)).toBe('not-json');
    const notUtf8 = Buffer.from('{"user":"ü"}', 'latin1');
    for (const text of ['{', 'null', '7', '[]', notUtf8]) expect(reasonOf(text)).toBe('not-json');
    for (const text of ['{}', '{"user":""}', '{"user":"\\ud800"}']) {
      expect(reasonOf(text), text).toBe('bad-id');
    }
    expect(reasonOf(`{"user":"${'x'.repeat(257)}"}`)).toBe('bad-id');
    for (const n of ['0', '-1', '1.5', '1001', '"3"', 'null', '1e400']) {
      expect(reasonOf(`{"user":"u","n":${n}}`), n).toBe('bad-value');
    }
  });

  it('never ends in any other error, whatever its bytes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string({ unit: 'binary' })), (text) => {
        reasonOf(text);
      }),
      { seed: 31, numRuns: 2_000 },
    );
  });
});

describe('a recommendation', () => {
  it('is plain JSON, or Avro to somebody who asked in Avro', () => {
    const answer = {
      user: '🎬',
      items: [{ item: 'a', score: 0.5 }],
      model: { name: 'default', position: 7, sequence: 3, lag: { ratings: 2, ms: 1.5 } },
      fallback: 'newcomer',
    } as const;
    expect(JSON.parse(encodeRecommendation(answer, 'json').toString())).toEqual(answer);
    const avro = new AvroType('recommendation.avsc').decode(encodeRecommendation(answer, 'avro'));
    expect(JSON.parse(JSON.stringify(avro))).toEqual(answer);
  });

  it('may leave out in Avro what is not known: it is null', () => {
    const model = { name: 'default', position: null };
    const bytes = encodeRecommendation(
      { user: 'u', items: [], model, fallback: 'newcomer' },
      'avro',
    );
    expect(new AvroType('recommendation.avsc').decode(bytes)).toMatchObject({
      model: { ...model, sequence: null, lag: null },
    });
  });

  it('in Avro is read by who knows the schema without sequence and lag, and the other way round', () => {
    const before = JSON.parse(readSchema('recommendation.avsc'));
    const model = before.fields.find(({ name }: { name: string }) => name === 'model').type;
    model.fields = model.fields.slice(0, 2);
    const old = avro.Type.forSchema(before);
    const event = { user: 'u', items: [], model: { name: 'm', position: 5 }, fallback: null };
    const now = avro.Type.forSchema(JSON.parse(readSchema('recommendation.avsc')));
    expect(now.fromBuffer(old.toBuffer(event), now.createResolver(old))).toMatchObject({
      model: { sequence: null, lag: null },
    });
    expect(old.fromBuffer(now.toBuffer(event), old.createResolver(now))).toEqual(event);
  });
});
