import { describe, expect, it } from 'vitest';
import { traceField, traceHeader, traceparentOf } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const valid = `00-${TRACE}-00f067aa0ba902b7-01`;

describe('a traceparent', () => {
  it('is passed on as it came', () => {
    expect(traceparentOf(valid)).toBe(valid);
    expect(traceHeader(valid)).toEqual({ traceparent: valid });
    expect(traceField(valid)).toEqual({ trace: TRACE });
  });

  it('of a later version is passed on by what this version knows of it', () => {
    expect(traceparentOf(`cc${valid.slice(2)}`)).toBe(valid);
    expect(traceparentOf(`cc${valid.slice(2)}-what-the-future-brings`)).toBe(valid);
  });

  it.each([
    undefined,
    '',
    `${valid}-more`,
    `ff${valid.slice(2)}`,
    valid.toUpperCase(),
    ` ${valid}`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-00f067aa0ba902b7`,
    `cc${valid.slice(2)}.more`,
    `${valid}\n`,
    7,
  ])('counts as absent if it is %j', (given) => {
    expect(traceparentOf(given)).toBeUndefined();
    expect(traceHeader(given)).toEqual({});
    expect(traceField(given)).toEqual({});
  });
});
