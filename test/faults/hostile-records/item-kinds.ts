/** Hostile records on the items topic: invalid ones are parked, large valid ones are served. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { ITEMS } from './honest-ratings.ts';
import { hostileHeaders } from './hostile-headers.ts';
import { LARGEST_VALUE } from './rating-kinds.ts';
import type { Bytes } from './raw-producer.ts';
import type { Kind, Stage } from './stage.ts';

const topic = 'items';
/** A record without a key, on a topic that is compacted. */
const INVALID_RECORD = 87;
const TITLE_BYTES = 60_000;

const nonsense: readonly (readonly [reason: string, key: Buffer | string, value: Bytes])[] = [
  ['not-json', 'i1', '{'],
  ['not-json', 'i1', 'null'],
  ['not-json', 'i1', '[]'],
  ['not-json', 'i1', Buffer.from([0xff, 0x00])],
  ['not-json', 'i1', ''],
  ['not-json', 'i1', '['.repeat(60_000)],
  ['not-json', 'i1', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
  ['bad-id', Buffer.from([0xff, 0xfe]), '{"title":"x"}'],
  ['bad-id', '', '{"title":"x"}'],
  ['bad-id', 'k'.repeat(257), null],
  ['bad-value', 'i1', '{"title":7}'],
  ['bad-value', 'i1', '{"categories":"x"}'],
  ['bad-value', 'i1', `{"categories":${JSON.stringify(Array(65).fill('x'))}}`],
  ['bad-value', 'i1', '{"withdrawn":"yes"}'],
  ['too-large', 'i1', `{"title":"${'x'.repeat(1 << 16)}"}`],
  ['too-large', 'i1', Buffer.alloc(LARGEST_VALUE - 10)],
];

const parked: Kind = {
  name: 'nonsense of every kind is parked with its reason',
  play: async (stage) => {
    const places = await stage.send(nonsense.map(([, key, value]) => ({ topic, key, value })));
    for (const [at, [reason, , value]] of nonsense.entries()) {
      const { headers } = await stage.letterOf(places[at]);
      expect(headers['freshet-reason'], String(value).slice(0, 40)).toBe(reason);
    }
  },
};

const keyless: Kind = {
  name: 'a record without a key is refused by Kafka itself',
  play: async (stage) => {
    const refused = stage.send([{ topic, key: null, value: '{}' }]);
    await expect(refused).rejects.toMatchObject({ code: INVALID_RECORD });
  },
};

const withHeaders: Kind = {
  name: 'hostile headers of every kind hide no title, and junk with them is parked',
  play: async (stage) => {
    const all = Object.values(hostileHeaders);
    await stage.send(
      all.map((headers, at) => ({ topic, key: `i${at}`, value: `{"title":"T${at}"}`, headers })),
    );
    const places = await stage.send(
      all.map((headers, at) => ({ topic, key: `i${at}`, value: 'junk', headers })),
    );
    for (const place of places) await stage.letterOf(place);
    await stage.sees('every title', async () => {
      const titles = await titlesFor(stage, 'a stranger');
      return all.every((_, at) => titles.has(`T${at}`));
    });
  },
};

const longTitles: Kind = {
  name: 'titles so long that an answer is beyond what Kafka takes: it is dropped, the next is sent',
  play: async (stage) => {
    const items = Array.from({ length: ITEMS }, (_, at) => `i${at}`);
    const value = JSON.stringify({ title: 'x'.repeat(TITLE_BYTES) });
    await stage.send(items.map((key) => ({ topic, key, value })));
    // Wait for all of them: an answer that lacks the last ones would still be small enough.
    await stage.sees('the titles', async () => {
      const offered = await offeredTo(stage, 'a stranger');
      return (
        offered.length === ITEMS && offered.every(({ title }) => title?.length === TITLE_BYTES)
      );
    });
    const requests = Array.from({ length: 8 }, (_, at) => ({
      topic: 'recommendation-requests',
      partition: at % 4,
      value: `{"user":"asks-for-all","n":1000}`,
    }));
    await stage.send(requests);
    // A user who rates now is pushed a list with these titles.
    await stage.send(stage.honest.next(50));
    await stage.sees('every answer to be dropped', async () => {
      const log = readFileSync(stage.system.child('scorer').logFile, 'utf8');
      return log.split('Kafka does not take the answer').length > requests.length;
    });
    await stage.send(items.map((key) => ({ topic, key, value: null })));
    await stage.sees('no title', async () => (await titlesFor(stage, 'u1')).size === 0);
  },
};

interface Offered {
  readonly title?: string;
}

async function offeredTo(stage: Stage, user: string): Promise<Offered[]> {
  const path = `/v1/recommendations/${encodeURIComponent(user)}?n=${ITEMS}`;
  const answer = await (await fetch(stage.system.scorerUrl + path)).json();
  return (answer as { items: Offered[] }).items;
}

async function titlesFor(stage: Stage, user: string): Promise<Set<string>> {
  return new Set((await offeredTo(stage, user)).flatMap(({ title }) => title ?? []));
}

export const itemKinds: readonly Kind[] = [parked, keyless, withHeaders, longTitles];
