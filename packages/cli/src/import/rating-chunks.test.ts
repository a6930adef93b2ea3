import { RatingReader, shardOf } from '@freshet/events';
import { type FileRating, UnreadableRatings } from '@freshet/ratings-files';
import { describe, expect, it } from 'vitest';
import { IntakeCheck } from './intake-check.ts';
import { type Chunk, IMPORT_HEADER, ratingChunks } from './rating-chunks.ts';

const reader = new RatingReader({ valueMax: 5, schemaIds: [] });

async function chunksOf(ratings: readonly FileRating[], refused: string[] = []): Promise<Chunk[]> {
  const onRefused = (_: FileRating, reason: string) => void refused.push(reason);
  const check = new IntakeCheck('ratings.csv', reader, onRefused);
  const options = { topic: 'ratings', partitions: 4, importId: 'abc', check };
  const chunks: Chunk[] = [];
  for await (const chunk of ratingChunks([ratings], options)) chunks.push(chunk);
  return chunks;
}

const many = Array.from({ length: 9_000 }, (_, at) => {
  return { user: `u${at % 700}`, item: `i${at % 90}`, value: at % 6, time: 1_000 * at };
});

describe('chunks of ratings', () => {
  it('hold every rating once, in order, on its user’s partition, with its own time', async () => {
    const chunks = await chunksOf(many);
    expect(chunks.length).toBeGreaterThan(1);
    const found = new Map<string, unknown[]>();
    for (const { byPartition } of chunks) {
      for (const [partition, records] of byPartition) {
        for (const { key, value, partition: target } of records) {
          const event = reader.read({ key: null, value, timestamp: 1e13 });
          expect([target, key]).toEqual([shardOf(event.user, 4), event.user]);
          expect(target).toBe(partition);
          found.set(event.user, [...(found.get(event.user) ?? []), event]);
        }
      }
    }
    for (const [user, events] of found) {
      const sent = many.filter((rating) => rating.user === user);
      expect(events).toEqual(sent.map((rating) => ({ kind: 'rate', ...rating })));
    }
    expect([...found.values()].flat()).toHaveLength(many.length);
  });

  it('name themselves in the first record of each partition, and are cut the same every time', async () => {
    const [first, again] = [await chunksOf(many), await chunksOf(many)];
    expect(again.map(({ ratings }) => ratings)).toEqual(first.map(({ ratings }) => ratings));
    for (const { number, byPartition } of first) {
      for (const records of byPartition.values()) {
        const marks = records.map(({ headers }) => headers?.[IMPORT_HEADER]);
        expect(marks[0]).toBe(`abc/${number}`);
        expect(marks.slice(1).every((mark) => mark === undefined)).toBe(true);
      }
    }
  });

  it('leave out what intake would have to park, and say why', async () => {
    const refused: string[] = [];
    const few = [
      { user: 'ann', item: 'tea', value: 6, time: 1 },
      { user: 'ann', item: 'tea', value: 5, time: Date.now() + 3_600_000 },
    ];
    const chunks = await chunksOf([...many, ...few], refused);
    expect(chunks.reduce((sum, { ratings }) => sum + ratings, 0)).toBe(many.length);
    expect(refused).toEqual([
      'value must be a number from 0 to 5, not 6',
      expect.stringContaining('more than 5 minutes ahead of the record'),
    ]);
  });

  it('end where over one in a hundred would be parked, however late in the file that shows', async () => {
    const large = many.map((rating) => ({ ...rating, value: 7 }));
    await expect(chunksOf([...many, ...many, ...large.slice(0, 180)])).resolves.toHaveLength(5);
    const tooMany = chunksOf([...many, ...many, ...large.slice(0, 190)]);
    await expect(tooMany).rejects.toThrow(UnreadableRatings);
    await expect(tooMany).rejects.toThrow('190 of the first 18190 ratings would be refused');
  });
});
