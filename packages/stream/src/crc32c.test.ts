import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { crc32c } from './crc32c.ts';

const theirs: (bytes: Buffer) => number = createRequire(import.meta.url)(
  'kafkajs/src/protocol/recordBatch/crc32C',
);

it('has the check value of its specification', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  expect(crc32c(Buffer.alloc(0))).toBe(0);
});

it('is what kafkajs computes byte by byte, at any length and place', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 99 }), fc.nat(9), (given, start) => {
      const bytes = Buffer.concat([Buffer.alloc(start, 7), given]);
      expect(crc32c(bytes, start)).toBe(theirs(Buffer.from(given)));
      expect(crc32c(bytes.subarray(start))).toBe(theirs(Buffer.from(given)));
    }),
    { seed: 5, numRuns: 300 },
  );
});
