import { topicConfig } from '@freshet/events';
import { describe, expect, it } from 'vitest';
import { misfitsOf } from './topic-misfits.ts';

const copies = topicConfig('userRatings', 7);
const latest = topicConfig('grams', 7);

describe('the configuration of a topic that somebody else created', () => {
  it('fits as it is wanted, and with room to spare', () => {
    for (const wanted of [copies, latest]) expect(misfitsOf(wanted, wanted)).toEqual([]);
    const more = { 'retention.ms': '-1', 'max.message.bytes': '8388608', 'segment.ms': '1' };
    expect(misfitsOf(copies, { ...copies, ...more })).toEqual([]);
  });

  it('does not fit where copies of ratings are compacted, expire earlier or must be small', () => {
    const found = {
      'cleanup.policy': 'compact,delete',
      'retention.ms': '3600000',
      'retention.bytes': '1000',
      'max.message.bytes': '1048588',
    };
    expect(misfitsOf(copies, found)).toEqual([
      'cleanup.policy=compact,delete, and needs delete',
      'max.message.bytes=1048588, and needs 4194304 or more',
      'retention.ms=3600000, and needs 604800000 or more',
      'retention.bytes=1000, and needs no limit (-1)',
    ]);
  });

  it('does not fit where the latest of each key may expire', () => {
    const found = { ...latest, 'cleanup.policy': 'compact,delete', 'retention.ms': '604800000' };
    expect(misfitsOf(latest, found)).toEqual(['retention.ms=604800000, and needs no limit (-1)']);
    // Without compaction there is only more to read.
    const kept = { ...latest, 'cleanup.policy': 'delete', 'retention.ms': '-1' };
    expect(misfitsOf(latest, kept)).toEqual(['cleanup.policy=delete, and needs compact']);
  });
});
