import { describe, expect, it } from 'vitest';
import { decodeItemMetadata } from './item-metadata.ts';
import { PoisonRecord } from './poison-record.ts';

const decode = (key: string | null, value: string | null) =>
  decodeItemMetadata(
    key === null ? null : Buffer.from(key),
    value === null ? null : Buffer.from(value),
  );

describe('a record of the items topic', () => {
  it('names the item by its key and tells title, categories and withdrawal', () => {
    const text = '{"title":"Solaris","categories":["Drama","Space"],"withdrawn":true}';
    expect(decode('i1', text)).toEqual([
      'i1',
      { title: 'Solaris', categories: ['Drama', 'Space'], withdrawn: true },
    ]);
  });

  it('may leave everything out, and takes everything back when null', () => {
    expect(decode('i1', '{}')).toEqual(['i1', { categories: [], withdrawn: false }]);
    expect(decode('i1', null)).toEqual(['i1', null]);
  });

  it('is refused when it makes no sense', () => {
    const bad: [string | null, string | null][] = [
      [null, '{}'],
      ['', '{}'],
      ['x'.repeat(257), '{}'],
      ['i', '{'],
      ['i', '[]'],
      ['i', '7'],
      ['i', '{"title":7}'],
      ['i', '{"categories":"Drama"}'],
      ['i', '{"categories":[7]}'],
      ['i', '{"withdrawn":"yes"}'],
      ['i', `{"title":"${'x'.repeat(70_000)}"}`],
    ];
    for (const [key, value] of bad) expect(() => decode(key, value)).toThrow(PoisonRecord);
    expect(() => decodeItemMetadata(Buffer.from([0xff]), null)).toThrow(PoisonRecord);
  });
});
