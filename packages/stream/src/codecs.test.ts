import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compressors } from '../../../test/compressors/compressors.ts';
import { codecOf, MAX_BATCH_BYTES } from './codecs.ts';
import { readZstdByWasm } from './codecs-zstd.ts';

const ids = { gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;
type Name = keyof typeof ids;

function codec(name: Name) {
  const found = codecOf(ids[name]);
  if (found === null) throw new Error(`${name} is no codec`);
  return found;
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
const TEXT = Buffer.from('{"user":"ada","item":"film-1","value":5}'.repeat(8));

/**
 * Written by the reference implementations (liblz4 1.10, libzstd 1.5, snappy, zlib), from Python.
 */
const fromOthers: readonly [string, Name, Buffer][] = [
  [
    'lz4 as a Java client writes it: independent blocks, no checksums',
    'lz4',
    hex(`04224d1860408234000000ff197b2275736572223a22616461222c226974656d223a2266696c6d2d31222c
      2276616c7565223a357d2800ff015065223a357d00000000`),
  ],
  [
    'lz4 with linked blocks, content size and both checksums',
    'lz4',
    hex(`04224d187c404001000000000000b634000000ff197b2275736572223a22616461222c226974656d223a22
      66696c6d2d31222c2276616c7565223a357d2800ff015065223a357d31dea18a000000009b1b5869`),
  ],
  [
    'zstd with its content size',
    'zstd',
    hex(`28b52ffd6040008d010084027b2275736572223a22616461222c226974656d223a2266696c6d2d31222c22
      76616c7565223a357d0100a858aa2a03`),
  ],
  [
    'zstd as a stream of unknown size with a checksum',
    'zstd',
    hex(`28b52ffd04588d010084027b2275736572223a22616461222c226974656d223a2266696c6d2d31222c2276
      616c7565223a357d0100a858aa2a0352c1cdfb`),
  ],
  [
    'snappy as one raw block',
    'snappy',
    hex(`c002a07b2275736572223a22616461222c226974656d223a2266696c6d2d31222c2276616c7565223a357d
      7bfe2800fe2800fe2800fe28005a2800`),
  ],
  [
    'snappy in the frame of a Java client, two blocks',
    'snappy',
    hex(`82534e4150505900000000010000000100000035c801a07b2275736572223a22616461222c226974656d22
      3a2266696c6d2d31222c2276616c7565223a357d7bfe2800fe28007a28000000003178a07b227573657222
      3a22616461222c226974656d223a2266696c6d2d31222c2276616c7565223a357d7bfe28003a2800`),
  ],
  [
    'gzip',
    'gzip',
    hex(`1f8b0800000000000203ab562a2d4e2d52b2524a4c4954d251ca2c49cd0572d2327372750d81fcb2c49cd2
      54252bd3daea517558d50100f01e4cc240010000`),
  ],
];

describe('a codec', () => {
  it.each(fromOthers)('reads %s', async (_, name, bytes) => {
    expect((await codec(name).decompress(bytes)).toString()).toBe(TEXT.toString());
  });

  it('reads zstd without the help of a new Node', async () => {
    for (const [, name, bytes] of fromOthers) {
      if (name !== 'zstd') continue;
      expect((await readZstdByWasm(bytes, MAX_BATCH_BYTES)).toString()).toBe(TEXT.toString());
    }
  });

  it.each(['gzip', 'snappy', 'lz4'] as const)('reads what a compressor wrote: %s', async (name) => {
    const compress = compressors[name];
    const { decompress } = codec(name);
    const large = Buffer.concat([Buffer.alloc(200_000, 'freshet '), Buffer.alloc(70_000)]);
    expect((await compress(large)).length).toBeLessThan(large.length / 10);
    expect((await decompress(await compress(large))).equals(large)).toBe(true);
    const repetitive = fc
      .array(fc.uint8Array({ maxLength: 40 }), { maxLength: 60 })
      .map((parts) => Buffer.concat([...parts, ...parts, ...parts.toReversed()]));
    await fc.assert(
      fc.asyncProperty(repetitive, async (input) => {
        expect((await decompress(await compress(input))).equals(input)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it.each(fromOthers)('says whose bytes are corrupt or cut off: %s', async (_, name, bytes) => {
    const { decompress } = codec(name);
    const message = `${name}: the bytes are corrupt`;
    for (const missing of name === 'zstd' ? [1, 4, 12] : [12]) {
      const part = bytes.subarray(0, bytes.length - missing);
      await expect(decompress(part), `without ${missing}`).rejects.toThrow(message);
    }
    await expect(decompress(Buffer.concat([hex('ffff'), bytes]))).rejects.toThrow(message);
    await expect(decompress(Buffer.alloc(0))).rejects.toThrow(message);
  });

  it.each(fromOthers)('never returns more than the limit: %s', async (_, name, bytes) => {
    // A zstd stream does not state its size, so each block counts as 128 KB.
    const limit = 128 << 10;
    await expect(codec(name).decompress(bytes, limit)).resolves.toHaveLength(TEXT.length);
    await expect(codec(name).decompress(bytes, TEXT.length - 1)).rejects.toThrow(
      `${name}: one batch decompresses to more than the limit of ${TEXT.length - 1} bytes`,
    );
  });

  it('survives bytes that would fill the memory', async () => {
    const zeros = gzipSync(Buffer.alloc(MAX_BATCH_BYTES + 1));
    await expect(codec('gzip').decompress(zeros)).rejects.toThrow('more than the limit');
    // A token whose match length goes on for 600,000 bytes of 255 each: 153 MB from 0.6 MB.
    const run = Buffer.concat([hex('1f000100'), Buffer.alloc(600_000, 255), hex('00')]);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(run.length);
    const frame = Buffer.concat([hex('04224d18604082'), size, run, Buffer.alloc(4)]);
    await expect(codec('lz4').decompress(frame)).rejects.toThrow('more than the limit');
    await expect(codec('snappy').decompress(hex('ffffffff0f00'))).rejects.toThrow('corrupt');
    // 1,100 blocks of one byte repeated 128 K times.
    const block = hex('0200106100').subarray(0, 4);
    const blocks = Buffer.concat(Array<Buffer>(1_100).fill(block));
    const bomb = Buffer.concat([hex('28b52ffd0058'), blocks, hex('010000')]);
    await expect(codec('zstd').decompress(bomb)).rejects.toThrow('more than the limit');
    await expect(readZstdByWasm(bomb, MAX_BATCH_BYTES)).rejects.toThrow('more than the limit');
  });

  it('takes any bytes without hanging and without more than the limit', async () => {
    const limit = 1 << 20;
    const mutated = fc
      .tuple(
        fc.constantFrom(...fromOthers),
        fc.nat(),
        fc.uint8Array({ minLength: 1, maxLength: 8 }),
      )
      .map(([[, name, bytes], at, change]) => {
        const copy = Buffer.from(bytes);
        copy.set(change.subarray(0, copy.length - (at % copy.length)), at % copy.length);
        return [name, copy] as const;
      });
    const random = fc.tuple(
      fc.constantFrom(...(Object.keys(ids) as Name[])),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(mutated, random), async ([name, bytes]) => {
        const work = [codec(name).decompress(bytes, limit)];
        if (name === 'zstd') work.push(readZstdByWasm(bytes, limit));
        for (const result of await Promise.allSettled(work)) {
          if (result.status === 'fulfilled') expect(result.value.length).toBeLessThanOrEqual(limit);
          else expect(result.reason).toHaveProperty('name', 'BadBytes');
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('is unknown if its number is 5, 6 or 7, and absent if it is 0', () => {
    for (const id of [5, 6, 7]) expect(() => codecOf(id)).toThrow(`codec ${id} is unknown`);
    expect(codecOf(0)).toBeNull();
    // The other bits of the attributes have other meanings.
    expect(codecOf(0x38 | ids.lz4)?.name).toBe('lz4');
  });
});
