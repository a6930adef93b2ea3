import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventStream } from './event-stream.ts';

const text =
  ':\n\nevent: history\ndata: {"a":1}\n\n:\n\nevent: frame\ndata: {"é":"→"}\n\ndata: bare\n\n';
const events = [
  { name: 'history', data: '{"a":1}' },
  { name: 'frame', data: '{"é":"→"}' },
  { name: 'message', data: 'bare' },
];

describe('a stream of events', () => {
  it('is read the same wherever it is cut', () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 0, max: text.length }));
    fc.assert(
      fc.property(cuts, (places) => {
        const bounds = [0, ...places.sort((a, b) => a - b), text.length];
        const stream = new EventStream();
        const found = bounds.flatMap((at, nth) =>
          stream.read(text.slice(at, bounds[nth + 1] ?? at)),
        );
        expect(found).toEqual(events);
      }),
      { seed: 20_261 },
    );
  });

  it('keeps an event back until it is whole', () => {
    const stream = new EventStream();
    expect(stream.read('event: frame\ndata: 1\n')).toEqual([]);
    expect(stream.read('\n')).toEqual([{ name: 'frame', data: '1' }]);
  });

  it('that never ends an event is given up', () => {
    const stream = new EventStream();
    const piece = 'x'.repeat(1 << 20);
    expect(() => {
      for (let nth = 0; nth < 10; nth++) stream.read(piece);
    }).toThrow('without an end');
  });
});
