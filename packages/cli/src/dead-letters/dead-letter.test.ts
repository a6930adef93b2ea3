import { RatingReader } from '@freshet/events';
import { type LogRecord, printable } from '@freshet/stream';
import { describe, expect, it } from 'vitest';
import { type DeadLetter, deadLetterOf, replayOf, sortLetters } from './dead-letter.ts';

const parked = {
  'freshet-model': 'default',
  'freshet-topic': 'ratings',
  'freshet-partition': '3',
  'freshet-offset': '41',
  'freshet-reason': 'bad-value',
  'freshet-message': 'value must be a number from 0 to 5',
};

function letter(value: string | Buffer | null, headers: Record<string, string> = {}): DeadLetter {
  const record: LogRecord = {
    offset: 8,
    timestamp: 1,
    key: Buffer.from('ann'),
    value: value === null ? null : Buffer.from(value),
    headers: { ...parked, ...headers },
  };
  const found = deadLetterOf(record, 'default');
  if (found === undefined) throw new Error('not a letter of this model');
  return found;
}

const target = {
  partitions: 4,
  reader: new RatingReader({ valueMax: 100, schemaIds: [] }),
  now: 2_000_000_000_000,
};

describe('a dead letter', () => {
  it('tells where it came from and why it is there', () => {
    expect(letter('{"user":"ann"}')).toMatchObject({
      offset: 8,
      reason: 'bad-value',
      topic: 'ratings',
      partition: 3,
      sourceOffset: 41,
      bytes: 14,
      replayedFrom: undefined,
    });
  });

  it('of another model is not ours', () => {
    const { record } = letter('x');
    expect(deadLetterOf(record, 'other')).toBeUndefined();
  });

  it('shows hostile bytes without obeying them, and not all of them', () => {
    const hostile = Buffer.from('\u001b[2J\u0007"\\é\n');
    expect(printable(hostile, 60)).toBe('\\x1b[2J\\x07"\\x5c\\xc3\\xa9\\x0a');
    expect(printable(Buffer.alloc(1_000, 'a'), 60)).toBe(`${'a'.repeat(60)}…`);
    expect(letter(null).preview).toBe('(no value)');
    expect(letter('x', { 'freshet-message': '\u001b[31m' }).message).toBe('\\x1b[31m');
  });
});

describe('a replayed dead letter', () => {
  const valid = '{"user":"ann","item":"tea","value":50}';

  it('has its original key and bytes, on the partition that it came from', () => {
    const { record, stillBad } = replayOf(letter(valid), target);
    expect(stillBad).toBeUndefined();
    expect(record).toMatchObject({ topic: 'ratings', partition: 3 });
    expect(record.key?.toString()).toBe('ann');
    expect(record.value?.toString()).toBe(valid);
  });

  it('that still cannot be read says why', () => {
    const { stillBad } = replayOf(letter('nonsense'), target);
    expect(stillBad).toBe('not-json: neither JSON nor Avro');
  });

  it('keeps the headers of its producer and none of ours but the mark of the replay', () => {
    const headers = { trace: 't1', 'freshet-source': 'default/1/5', 'freshet-replayed': '2' };
    const again = letter(valid, headers);
    expect(again.replayedFrom).toBe(2);
    expect(replayOf(again, target).record.headers).toEqual({
      trace: 't1',
      'freshet-replayed': '8',
    });
  });

  it('never leaves the topic’s partitions, whatever its headers say', () => {
    for (const said of ['9', '-1', 'x', '1.5']) {
      const { record } = replayOf(letter('nonsense', { 'freshet-partition': said }), target);
      expect(record.partition, said).toBe(0);
    }
  });

  it('goes to the topic that it came from, if ratings come from there, and nowhere else', () => {
    const clicks = letter(valid, { 'freshet-topic': 'clicks' });
    expect(replayOf(clicks, target).record.topic).toBe('clicks');
    const forged = letter(valid, { 'freshet-topic': 'payments' });
    const long = letter(valid, { 'freshet-cut': 'value' });
    const { replayed, left } = sortLetters([clicks, forged, long], ['ratings', 'clicks']);
    expect(replayed).toEqual([clicks]);
    expect([...left]).toEqual([
      ['of payments, which RATINGS_TOPICS does not name', 1],
      ['too long to be parked whole', 1],
    ]);
  });
});
