import { sourceName } from '@freshet/positions';
import { ServerAway } from '@freshet/telemetry';
import { describe, expect, it } from 'vitest';
import { NoSource, SourceNames } from './source-names.ts';

function names(ids: Record<string, string | undefined>, topics = ['ratings', 'clicks']) {
  const admin = {
    exists: async (topic: string) => topic in ids,
    topicId: async (topic: string) => ids[topic],
  };
  return new SourceNames(admin, topics);
}

describe('the place of a rating', () => {
  it('is named by the id of its topic, the first one unless another is named', async () => {
    const found = names({ ratings: 'r1', clicks: 'c1' });
    expect(await found.find({ partition: 2, offset: 7 })).toEqual({
      topic: 'ratings',
      partition: 2,
      offset: 7,
      source: sourceName('ratings', 'r1', 2),
    });
    const { source } = await found.find({ topic: 'clicks', partition: 0, offset: 7 });
    expect(source).toBe(sourceName('clicks', 'c1', 0));
  });

  it('is named by the topic itself where the broker has no ids', async () => {
    const { source } = await names({ ratings: undefined }).find({ partition: 2, offset: 7 });
    expect(source).toBe(sourceName('ratings', 'ratings', 2));
  });

  it('is refused of a topic that no ratings come from', async () => {
    const finding = names({ ratings: 'r1' }).find({ topic: 'payments', partition: 0, offset: 0 });
    await expect(finding).rejects.toThrow(NoSource);
    await expect(finding).rejects.toThrow('ratings, clicks, not from payments');
  });

  it('is found once the topic exists', async () => {
    const ids: Record<string, string> = {};
    const found = names(ids);
    await expect(found.find({ partition: 0, offset: 0 })).rejects.toThrow(ServerAway);
    ids.ratings = 'r1';
    expect((await found.find({ partition: 0, offset: 0 })).source).toBe(
      sourceName('ratings', 'r1', 0),
    );
  });
});
