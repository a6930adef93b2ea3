import { PoisonRecord, RatingReader, type RatingRules, shardOf } from '@freshet/events';
import { describe, expect, it } from 'vitest';
import { RatingLog } from './rating-log.ts';

function openLog(rules: Partial<RatingRules> = {}) {
  const sent: { topic: string; partition: number; key: unknown; value: Buffer | null }[] = [];
  const kafka = { partitions: 7, isAway: false };
  const all: RatingRules = { valueMax: 10, schemaIds: [], ...rules };
  const log = new RatingLog({
    publisher: {
      appendAll: async (records) => {
        if (kafka.isAway) throw new Error('no leader');
        return records.map((record) => sent.push(record) - 1);
      },
    },
    admin: {
      ends: async () => new Map(Array.from({ length: kafka.partitions }, (_, at) => [at, 0])),
    },
    topic: 'stars',
    rules: all,
  });
  return { log, sent, kafka, rules: all };
}

const rating = { user: 'ada', item: 'dune', value: 4, time: 1_700_000_000_000 };

describe('a rating over HTTP', () => {
  it('lies where a producer with default settings would have put it', async () => {
    const { log, sent } = openLog();
    const partition = shardOf('ada', 7);
    expect(await log.rate([rating])).toEqual([{ partition, offset: 0 }]);
    expect(await log.forget('ada')).toEqual({ partition, offset: 1 });
    expect(sent).toMatchObject([
      { topic: 'stars', partition, key: 'ada' },
      { topic: 'stars', partition, key: 'ada', value: null },
    ]);
  });

  it('carries the headers of its request', async () => {
    const { log, sent } = openLog();
    await log.rate([rating], { traceparent: 'x' });
    await log.forget('ada', { traceparent: 'y' });
    expect(sent).toMatchObject([
      { headers: { traceparent: 'x' } },
      { headers: { traceparent: 'y' } },
    ]);
  });

  it('has its fields where they are looked for, and is read back as it was given', async () => {
    const fields = { user: 'who', item: 'product.id', value: 'product.stars', time: 'at.ms' };
    const { log, sent, rules } = openLog({ fields, kinds: new Map([['view', 1]]) });
    await log.rate([rating, { user: 'ada', item: 'dune', value: null }]);
    expect(JSON.parse(String(sent[0]?.value))).toEqual({
      who: 'ada',
      product: { id: 'dune', stars: 4 },
      at: { ms: 1_700_000_000_000 },
    });
    const reader = new RatingReader(rules);
    const [given, takenBack] = sent.map(({ value }) =>
      reader.read({ key: null, value, timestamp: Date.now() }),
    );
    expect(given).toEqual({ kind: 'rate', ...rating });
    expect(takenBack).toMatchObject({ kind: 'unrate', user: 'ada', item: 'dune' });
  });

  it('that intake would park is refused for the same reason, and nothing is sent', async () => {
    const { log, sent } = openLog();
    const future = { ...rating, time: 8e15 };
    await expect(log.rate([rating, future])).rejects.toThrow(PoisonRecord);
    expect(sent).toEqual([]);
  });

  it('goes to the partitions that the topic has after Kafka refused one', async () => {
    const { log, sent, kafka } = openLog();
    await log.rate([rating]);
    kafka.partitions = 3;
    kafka.isAway = true;
    await expect(log.rate([rating])).rejects.toThrow('no leader');
    kafka.isAway = false;
    await log.rate([rating]);
    expect(sent.map(({ partition }) => partition)).toEqual([shardOf('ada', 7), shardOf('ada', 3)]);
  });
});
