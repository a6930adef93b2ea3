import { describe, expect, it } from 'vitest';
import { type Topic, topicConfig, topicName, topics } from './topics.ts';

const all = Object.keys(topics) as Topic[];

describe('the table of topics', () => {
  it('names every topic once, by what Kafka allows', () => {
    const names = all.map((topic) => topicName(topic, 'x'.repeat(40)));
    expect(new Set(names).size).toBe(all.length);
    for (const name of names) expect(name).toMatch(/^[a-z0-9.-]{1,249}$/);
  });

  it('keeps the topics of two models apart, and shares what belongs to the user', () => {
    for (const topic of all) {
      const isShared = topicName(topic, 'one') === topicName(topic, 'two');
      expect(isShared, topic).toBe(topics[topic].scope === 'shared');
    }
    expect(topicName('ratings', 'one')).toBe('ratings');
    expect(topicName('itemRatings', 'one')).toBe('one.item-ratings');
  });

  it('never expires what the model is rebuilt from', () => {
    const forever = { 'retention.ms': '-1', 'retention.bytes': '-1' };
    expect(topicConfig('ratings', 7)).toMatchObject(forever);
  });

  it('keeps copies of what people rated for as many days as are set', () => {
    for (const topic of ['userRatings', 'itemRatings'] as const) {
      const expected = { 'retention.ms': '604800000', 'retention.bytes': '-1' };
      expect(topicConfig(topic, 7)).toMatchObject(expected);
    }
  });

  it('keeps vectors for an hour and a gigabyte a partition', () => {
    for (const topic of ['userFactors', 'itemFactors'] as const) {
      const expected = { 'retention.ms': '3600000', 'retention.bytes': String(2 ** 30) };
      expect(topicConfig(topic, 7)).toMatchObject(expected);
    }
  });

  it('deletes a record at most a seventh of its time late, or four hours', () => {
    for (const topic of all) {
      for (const days of [1, 7, 365]) {
        const config = topicConfig(topic, days);
        const [ms, segmentMs] = [
          Number(config['retention.ms'] ?? -1),
          Number(config['segment.ms']),
        ];
        if (ms < 0) continue;
        expect(segmentMs, topic).toBeLessThanOrEqual(Math.max(ms / 7, 4 * 3_600_000));
        expect(segmentMs, topic).toBeGreaterThanOrEqual(4 * 3_600_000);
      }
    }
  });

  it('compacts exactly what is kept by its latest record, and that has one partition', () => {
    for (const topic of all) {
      const isCompacted = topics[topic].retain === 'latest';
      const policy = isCompacted ? 'compact' : 'delete';
      expect(topicConfig(topic, 7)['cleanup.policy'], topic).toBe(policy);
      if (isCompacted) expect(topics[topic].partitions).toBe('single');
    }
  });

  it('allows records of 4 MB everywhere', () => {
    for (const topic of all) {
      expect(topicConfig(topic, 7)['max.message.bytes']).toBe(String(4 << 20));
    }
  });

  it('gives a partition for each shard only to topics of one model', () => {
    const sharded = all.filter((topic) => topics[topic].partitions === 'sharded');
    for (const topic of sharded) expect(topics[topic].scope, topic).toBe('model');
    expect(sharded).toContain('userRatings');
    // An epoch is an offset of claims: two partitions would hand the same one out twice.
    expect(topics.claims.partitions).toBe('single');
  });
});
