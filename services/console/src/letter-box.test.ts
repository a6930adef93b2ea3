import { PoisonRecord } from '@freshet/events';
import { deadLetter, type LogRecord } from '@freshet/stream';
import { describe, expect, it } from 'vitest';
import { LetterBox } from './letter-box.ts';
import { LETTERS } from './live/frame.ts';

const source: LogRecord = { offset: 41, timestamp: 1, key: null, value: null, headers: {} };

/** A dead letter as the updater writes it. */
function parked(offset: number, value: Buffer | null, model = 'default'): LogRecord {
  const reason = new PoisonRecord('not-json', 'neither JSON nor Avro');
  const { headers = {} } = deadLetter(
    model,
    { topic: 'ratings', partition: 3 },
    { ...source, value },
    reason,
  );
  return { offset, timestamp: 1_000 + offset, key: null, value, headers };
}

describe('the box of dead letters', () => {
  it('tells where a letter came from, why, and a glimpse that obeys nothing in it', () => {
    const box = new LetterBox('default');
    box.receive([parked(8, Buffer.from('\u001b[2J<b>é'))]);
    expect(box.all()).toEqual([
      {
        offset: 8,
        at: 1_008,
        reason: 'not-json',
        source: 'ratings/3@41',
        bytes: 9,
        preview: '\\x1b[2J<b>\\xc3\\xa9',
      },
    ]);
    box.receive([parked(9, null), parked(10, Buffer.alloc(100_000, 'a'))]);
    expect(box.all().map(({ preview }) => preview.length)).toEqual([18, 10, 81]);
  });

  it('keeps the last few of its own model, however many come', () => {
    const box = new LetterBox('default');
    const records = Array.from({ length: 1_000 }, (_, offset) =>
      parked(offset, Buffer.from('x'), offset % 2 === 0 ? 'default' : 'other'),
    );
    box.receive(records);
    expect(box.all()).toHaveLength(LETTERS);
    expect(box.all().at(-1)?.offset).toBe(998);
  });

  it('hands out each new letter once, and takes none twice', () => {
    const box = new LetterBox('default');
    box.receive([parked(1, null), parked(2, null)]);
    expect(box.fresh().map(({ offset }) => offset)).toEqual([1, 2]);
    expect(box.fresh()).toEqual([]);
    box.receive([parked(2, null), parked(3, null)]);
    expect(box.fresh().map(({ offset }) => offset)).toEqual([3]);
  });

  it('bears a letter whose headers say nothing sensible', () => {
    const box = new LetterBox('default');
    box.receive([{ ...source, headers: { 'freshet-model': 'default' } }]);
    expect(box.all()[0]).toMatchObject({ reason: '?', source: '?/?@?' });
  });
});
