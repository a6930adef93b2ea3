import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { registerCompressors } from '../../../test/compressors/compressors.ts';
import { registerCodecs } from './codecs.ts';
import { isUnreadable, replaceFetchDecoding } from './fetch-decoding.ts';

const require = createRequire(import.meta.url);
const inside = (path: string) => require(`kafkajs/src/${path}`);

interface Message {
  readonly offset: string;
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Record<string, unknown>;
}

interface Given {
  readonly count?: number;
  readonly compression?: number;
  readonly firstOffset?: number;
  readonly isTransactional?: boolean;
}

/** A batch as kafkajs's own producer writes it. */
async function batchOf(given: Given = {}): Promise<Buffer> {
  const { count = 3, compression = 0, firstOffset = 100, isTransactional = false } = given;
  const Long = inside('utils/long');
  const Record = inside('protocol/recordBatch/record/v0');
  const records = Array.from({ length: count }, (_, offsetDelta) =>
    Record({ offsetDelta, timestampDelta: 7, key: `k${offsetDelta}`, value: 'value'.repeat(5) }),
  );
  const { buffer } = await inside('protocol/recordBatch/v0').RecordBatch({
    compression,
    records,
    firstOffset: Long.fromValue(firstOffset),
    firstTimestamp: 1_000,
    maxTimestamp: 2_000,
    producerId: Long.fromValue(9),
    lastOffsetDelta: count - 1,
    transactional: isTransactional,
  });
  return Buffer.from(buffer);
}

/** Sets length and checksum after a change, as if the producer had written the batch like this. */
function sealed(batch: Buffer): Buffer {
  const copy = Buffer.from(batch);
  copy.writeInt32BE(copy.length - 12, 8);
  copy.writeUInt32BE(inside('protocol/recordBatch/crc32C')(copy.subarray(21)), 17);
  return copy;
}

/** The records of `batch` replaced by `body`, in the codec `compression`. */
function withBody(batch: Buffer, compression: number, count: number, body: Buffer): Buffer {
  const copy = Buffer.concat([batch.subarray(0, 61), body]);
  copy.writeInt16BE(compression, 21);
  copy.writeInt32BE(count, 57);
  return sealed(copy);
}

/** A message of magic 0 or 1. Its checksum is 0, because the decoder does not check it. */
function oldMessage(magic: 0 | 1, offset: number, value: Buffer, compression = 0): Buffer {
  const time = magic === 1 ? 8 : 0;
  const bytes = Buffer.alloc(26 + time + value.length);
  bytes.writeBigInt64BE(BigInt(offset));
  bytes.writeInt32BE(bytes.length - 12, 8);
  bytes.writeInt8(magic, 16);
  bytes.writeInt8(compression, 17);
  if (magic === 1) bytes.writeBigInt64BE(5_000n, 18);
  bytes.writeInt32BE(-1, 18 + time);
  bytes.writeInt32BE(value.length, 22 + time);
  value.copy(bytes, 26 + time);
  return bytes;
}

/** Through kafkajs's own decoder of a whole response, with one partition in it. */
async function fetchedBy(version: number, batches: readonly Buffer[]): Promise<Message[]> {
  const records = Buffer.concat(batches);
  const int32 = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return bytes;
  };
  const raw = Buffer.concat([
    int32(0), // throttled for
    Buffer.alloc(version >= 7 ? 6 : 0), // error and session
    int32(1),
    Buffer.from([0, 1, 0x74]), // the topic t
    int32(1),
    Buffer.alloc(6 + (version >= 5 ? 24 : 16)), // partition, error, offsets
    int32(-1), // no aborted transactions
    version >= 11 ? int32(-1) : Buffer.alloc(0), // any replica
    int32(records.length),
    records,
  ]);
  const decoded = await inside(`protocol/requests/fetch/v${version}/response`).decode(raw);
  return decoded.responses[0].partitions[0].messages;
}

const fetched = (...batches: readonly Buffer[]): Promise<Message[]> => fetchedBy(11, batches);

beforeAll(() => {
  registerCodecs();
  registerCompressors();
  replaceFetchDecoding();
});

describe('a fetch response', () => {
  it.each([0, 1, 2, 3])('gives what the producer wrote with codec %i', async (compression) => {
    const messages = await fetched(
      await batchOf({ compression }),
      await batchOf({ firstOffset: 103 }),
    );
    expect(messages.map(({ offset }) => offset)).toEqual([
      '100',
      '101',
      '102',
      '103',
      '104',
      '105',
    ]);
    expect(messages[1]).toMatchObject({ timestamp: '1007', headers: {}, isControlRecord: false });
    expect(String(messages[1]?.key)).toBe('k1');
    expect(String(messages[1]?.value)).toBe('value'.repeat(5));
  });

  it('gives the same as the decoder of kafkajs', async () => {
    const Long = inside('utils/long');
    const headers = { one: 'a', two: ['b', 'c'], ключ: Buffer.from([0, 255]) };
    const Record = inside('protocol/recordBatch/record/v0');
    const records = [
      Record({ offsetDelta: 0, timestampDelta: -5_000_000_000_000, key: null, value: '', headers }),
      Record({ offsetDelta: 7, timestampDelta: 2 ** 40, key: 'k', value: null }),
    ];
    const { RecordBatch } = inside('protocol/recordBatch/v0');
    const made = { records, firstOffset: Long.fromValue(5), firstTimestamp: 1, maxTimestamp: 2 };
    const { buffer } = await RecordBatch({ ...made, lastOffsetDelta: 7 });
    const Decoder = inside('protocol/decoder');
    const theirs = await inside('protocol/recordBatch/v0/decoder')(new Decoder(buffer));
    expect(await fetched(buffer)).toEqual(theirs.records);
  });

  it('may hold a batch of 300,000 records', async () => {
    const messages = await fetched(await batchOf({ count: 300_000, compression: 3 }));
    expect(messages).toHaveLength(300_000);
    expect(messages.at(-1)?.offset).toBe('300099');
  });

  it('is left in part for the next fetch where it would fill the memory', async () => {
    const [first, second] = [
      await batchOf({ count: 260_000, compression: 1 }),
      await batchOf({ firstOffset: 260_100 }),
    ];
    expect(await fetched(first, second)).toHaveLength(260_000);
  });

  it('may end anywhere in a batch', async () => {
    const [first, second] = [await batchOf(), await batchOf({ firstOffset: 103, compression: 2 })];
    for (let length = 0; length < second.length; length++) {
      expect(await fetched(first, second.subarray(0, length))).toHaveLength(3);
    }
    expect(await fetched()).toEqual([]);
  });

  it('may hold messages of before Kafka 0.11, compressed ones too', async () => {
    const [a, b] = [Buffer.from('a'), Buffer.from('b')];
    const relative = gzipSync(Buffer.concat([oldMessage(1, 0, a), oldMessage(1, 1, b)]));
    const absolute = gzipSync(Buffer.concat([oldMessage(0, 8, a), oldMessage(0, 9, b)]));
    const messages = await fetched(
      oldMessage(0, 3, a),
      oldMessage(1, 5, b),
      oldMessage(1, 7, relative, 1),
      oldMessage(0, 9, absolute, 1),
      await batchOf(),
    );
    expect(messages.map(({ offset }) => Number(offset))).toEqual([3, 5, 6, 7, 8, 9, 100, 101, 102]);
    expect(
      messages
        .slice(0, 6)
        .map(({ value }) => String(value))
        .join(''),
    ).toBe('ababab');
    expect(messages.map(({ timestamp }) => timestamp).slice(0, 3)).toEqual(['-1', '5000', '5000']);
  });
});

const garbage = Buffer.from('no codec has ever written this');

describe('a batch that cannot be decoded', () => {
  const cases: readonly [string, string, (batch: Buffer) => Buffer][] = [
    ['of an unknown codec', 'codec 6 is unknown', (batch) => withBody(batch, 6, 3, garbage)],
    ['of corrupt gzip', 'gzip: the bytes are corrupt', (batch) => withBody(batch, 1, 3, garbage)],
    [
      'of corrupt snappy',
      'snappy: the bytes are corrupt',
      (batch) => withBody(batch, 2, 3, garbage),
    ],
    ['of corrupt lz4', 'lz4: the bytes are corrupt', (batch) => withBody(batch, 3, 3, garbage)],
    ['of corrupt zstd', 'zstd: the bytes are corrupt', (batch) => withBody(batch, 4, 3, garbage)],
    ['of corrupt records', 'the bytes are corrupt', (batch) => withBody(batch, 0, 3, garbage)],
    [
      'with more records than it says',
      'the bytes are corrupt',
      (batch) => withBody(batch, 0, 2, batch.subarray(61)),
    ],
    [
      'of more records than fit',
      '2000000000 records in one batch; the limit is 1000000',
      (batch) => withBody(batch, 0, 2_000_000_000, garbage),
    ],
    [
      'that decompresses without an end',
      'gzip: one batch decompresses to more than the limit of 134217728 bytes',
      (batch) => withBody(batch, 1, 3, gzipSync(Buffer.alloc(130 << 20))),
    ],
    [
      'with a wrong checksum',
      'the checksum of the batch does not match',
      (batch) => Buffer.concat([batch.subarray(0, -1), Buffer.from([1])]),
    ],
  ];

  it.each(cases)('%s becomes one message with its offsets', async (_, reason, spoil) => {
    const [first, last] = [await batchOf({ firstOffset: 97 }), await batchOf({ firstOffset: 103 })];
    const messages = await fetched(first, spoil(await batchOf()), last);
    expect(messages.map(({ offset }) => offset)).toEqual(['97', '98', '99', '102']);
    const marker = messages[3] as Message;
    expect(messages.filter(isUnreadable)).toEqual([marker]);
    expect(marker).toMatchObject({ firstOffset: '100', key: null, value: null, headers: {} });
    expect(isUnreadable(marker) && marker.unreadable.message).toBe(reason);
  });

  it('is not taken for one of an aborted transaction, nor lost to a position inside it', async () => {
    const spoilt = withBody(await batchOf({ isTransactional: true }), 16 | 6, 3, garbage);
    const Batch = inside('consumer/batch');
    const batch = new Batch('ratings', '101', {
      partition: 0,
      highWatermark: '200',
      abortedTransactions: [{ producerId: '9', firstOffset: '90' }],
      messages: await fetched(spoilt),
    });
    expect(batch.messages.filter(isUnreadable)).toHaveLength(1);
    expect(batch.lastOffset()).toBe('102');
  });

  it('has its first offset where its header makes no sense', async () => {
    for (const length of [-1, 0, 13, 0x7fffffff]) {
      const broken = await batchOf();
      broken.writeInt32BE(length, 8);
      expect(await fetched(broken)).toMatchObject([{ firstOffset: '100' }]);
    }
    const newer = await batchOf();
    newer.writeInt8(3, 16);
    const [marker] = await fetched(newer, await batchOf({ firstOffset: 103 }));
    expect(marker).toMatchObject({ offset: '100', unreadable: { message: 'magic 3 is unknown' } });
    const far = await batchOf();
    far.writeInt32BE(0x7fffffff, 23);
    expect(await fetched(far)).toMatchObject([{ offset: '100', unreadable: {} }]);
  });

  it('never makes decoding throw or hang, whatever its bytes', async () => {
    const batches = await Promise.all([0, 1, 2, 3].map((compression) => batchOf({ compression })));
    const old = oldMessage(1, 7, gzipSync(oldMessage(1, 0, Buffer.from('a'))), 1);
    const change = fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 9 }));
    const changed = fc
      .tuple(fc.constantFrom(...batches, old), fc.array(change, { maxLength: 4 }), fc.boolean())
      .map(([batch, changes, isSealed]) => {
        const copy = Buffer.from(batch);
        for (const [at, bytes] of changes) {
          const start = at % copy.length;
          copy.set(bytes.subarray(0, copy.length - start), start);
        }
        return isSealed ? sealed(copy) : copy;
      });
    const random = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(changed, random), { maxLength: 3 }), async (parts) => {
        const messages = await fetched(...parts);
        expect(messages.length).toBeLessThan(100);
        for (const { offset } of messages) expect(typeof BigInt(offset)).toBe('bigint');
        expect(messages.slice(0, -1).filter(isUnreadable)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('replacing the decoder of kafkajs', () => {
  const fake = (version: string, exports?: unknown) =>
    Object.assign(() => ({ version }), {
      resolve: Object.assign(() => '/decode', { paths: () => [] }),
      cache: exports === undefined ? {} : { '/decode': { exports } },
      extensions: require.extensions,
      main: undefined,
    }) as NodeJS.Require;

  it('is refused for any version but the one it was written for', () => {
    expect(require('kafkajs/package.json').version).toBe('2.2.4');
    expect(() => replaceFetchDecoding(fake('2.2.5'))).toThrow('kafkajs is 2.2.5');
  });

  it('is refused once kafkajs has loaded its own', () => {
    expect(() => replaceFetchDecoding(fake('2.2.4', () => []))).toThrow('loaded its own');
  });

  it('reaches every version of the response from 4 on', async () => {
    const spoilt = withBody(await batchOf(), 6, 3, garbage);
    for (let version = 4; version <= 11; version++) {
      expect((await fetchedBy(version, [spoilt])).filter(isUnreadable)).toHaveLength(1);
    }
  });
});
