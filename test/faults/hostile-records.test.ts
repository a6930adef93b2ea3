/**
 * Whatever records are sent to any topic, no process ends, the lag returns to 0, and every honest
 * rating before, between and after them counts once. Each kind of record is a row of a table, with
 * what must become of it.
 */
import { isDeepStrictEqual } from 'node:util';
import { freePort } from '@freshet/local';
import type { Recommended } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codecs, fuzzedRecords } from './hostile-records/fuzzed-records.ts';
import { ITEMS, USERS } from './hostile-records/honest-ratings.ts';
import { internalKinds } from './hostile-records/internal-kinds.ts';
import { itemKinds } from './hostile-records/item-kinds.ts';
import { ratingKinds } from './hostile-records/rating-kinds.ts';
import { requestKinds } from './hostile-records/request-kinds.ts';
import { Stage, services } from './hostile-records/stage.ts';
import { transactionKinds } from './hostile-records/transaction-kinds.ts';

/** HOSTILE_SEED repeats the records of a run that failed. */
const SEED = Number(process.env.HOSTILE_SEED ?? Date.now() % 2 ** 31);
const FUZZED = 300;

let stage: Stage;
let pids: Record<string, number | undefined>;

beforeAll(async () => {
  stage = await Stage.open();
  pids = stage.pids();
  await stage.begin();
});

afterAll(() => stage?.close());

/** No process has ended, and honest ratings are still applied. */
async function goesOn(): Promise<void> {
  await stage.send(stage.honest.next(50));
  await stage.noLag();
  expect(stage.pids()).toEqual(pids);
}

const table = {
  ratings: ratingKinds,
  items: itemKinds,
  'recommendation-requests': requestKinds,
  'internal topics': internalKinds,
  'topics in transactions': transactionKinds,
};

describe.each(Object.entries(table))('on %s', (_, kinds) => {
  it.each(kinds.map(({ name, play }) => [name, play] as const))('%s', async (_name, play) => {
    await play(stage);
    await goesOn();
  });
});

describe('on every topic', () => {
  it(`${FUZZED} records that chance made, in several codecs, with seed ${SEED}`, async () => {
    const fuzzed = fuzzedRecords(stage.real, SEED, FUZZED);
    for (const codec of codecs) {
      const records = fuzzed.filter((each) => each.codec === codec).map(({ record }) => record);
      expect(await stage.send(records, codec)).toHaveLength(records.length);
    }
    await goesOn();
  });
});

describe('after all of them', () => {
  it('every honest rating counts once on both sides, and no process has ended', async () => {
    await stage.send(stage.honest.next(200));
    await stage.noLag();
    expect(await stage.violations()).toEqual([]);
    expect(stage.pids()).toEqual(pids);
  });

  it('the commands of the operator find nothing wrong', async () => {
    const commands = [['audit'], ['sources'], ['dead-letters', 'list']];
    const done = await Promise.all(commands.map((command) => stage.freshet(...command)));
    for (const { code, said } of done) expect(code, said).toBe(0);
  });

  it('recommendations are answered over HTTP and on Kafka, and pushed', async () => {
    const { items, fallback } = await stage.system.recommendations('u1', 5);
    expect(items).toHaveLength(5);
    expect(fallback).toBeNull();
    const headers = [['correlation-id', 'the-last']] as const;
    const { pushes } = stage.watch;
    await stage.send([{ topic: 'recommendation-requests', value: '{"user":"u1"}', headers }]);
    await stage.send(stage.honest.next(50));
    await stage.sees('the answer', async () => stage.watch.answersTo('the-last').length);
    await stage.sees('pushes', async () => stage.watch.pushes > pushes);
  });

  it('a scorer that starts now comes to know what the first one knows', async () => {
    const [port, admin] = [await freePort(), await freePort()];
    stage.system.launchAnother('scorer', {
      SCORER_PORT: String(port),
      SCORER_ADMIN_PORT: String(admin),
    });
    await stage.sees('both to answer alike', async () => {
      const lists = [stage.system.scorerUrl, `http://127.0.0.1:${port}`].map(listsOfAll);
      const [first, second] = await Promise.all(lists);
      if (!isDeepStrictEqual(first, second)) throw new Error(differenceOf(first, second));
      return true;
    });
  });

  it('the other services can start again', async () => {
    const others = services.filter((name) => name !== 'scorer');
    await Promise.all(others.map((name) => stage.system.child(name).stop()));
    for (const name of others) stage.system.launch(name);
    for (const name of others) await stage.system.ready(name);
    await stage.send(stage.honest.next(50));
    await stage.noLag();
    expect(await stage.violations()).toEqual([]);
  });
});

/** The first list that differs, of both scorers. */
function differenceOf(first: object[], second: object[]): string {
  const at = first.findIndex((list, user) => !isDeepStrictEqual(list, second[user]));
  return `u${at}: ${JSON.stringify(first[at])} and ${JSON.stringify(second[at])}`;
}

/** Every item that every honest user may be offered, with its score. */
function listsOfAll(scorerUrl: string): Promise<object[]> {
  return Promise.all(
    Array.from({ length: USERS }, async (_, at) => {
      const response = await fetch(`${scorerUrl}/v1/recommendations/u${at}?n=${ITEMS}`);
      expect(response.status).toBe(200);
      return ((await response.json()) as Recommended).items;
    }),
  );
}
