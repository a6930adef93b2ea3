/**
 * The operator's commands on real servers, in one story: topics are created, an import is killed
 * and resumed, services learn it, `factorize` learns it anew, services go on from there, and an
 * audit finds the model clean, then unsettled, then broken on purpose.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { RatingReader } from '@freshet/events';
import { generateRatings } from '@freshet/experiments';
import { serviceNames } from '@freshet/local';
import type { FileRating } from '@freshet/ratings-files';
import { Publisher } from '@freshet/stream';
import { openLog } from '@freshet/telemetry';
import { eventually, ratingsRecord, System, sendRatings, violationsOf } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importRatings } from '../../packages/cli/src/import/import-ratings.ts';
import type { ImportState } from '../../packages/cli/src/import/import-state.ts';
import { IntakeCheck } from '../../packages/cli/src/import/intake-check.ts';

const SHARDS = 4;
const MAIN = fileURLToPath(new URL('../../packages/cli/dist/main.js', import.meta.url));
/** Enough that an import of it is still going on when it is killed. */
const ratings = [...generateRatings({ users: 400, items: 120, ratings: 120_000, seed: 11 })];
const pairs = new Set(ratings.map(({ user, item }) => `${user} ${item}`));

let system: System;
let file: string;

function start(args: readonly string[], settings: Readonly<Record<string, string>> = {}) {
  const environment = { ...process.env, ...system.environment, ...settings };
  const XDG_CACHE_HOME = join(system.folder, 'cache');
  return spawn(process.execPath, [MAIN, ...args], { env: { ...environment, XDG_CACHE_HOME } });
}

const freshet: System['freshet'] = (args, settings) => system.freshet(args, settings);

async function produced(topic = 'ratings'): Promise<number> {
  const ends = await system.withSession(({ admin }) => admin.ends(topic));
  return [...ends.values()].reduce((sum, end) => sum + end, 0);
}

beforeAll(async () => {
  system = await System.open();
  mkdirSync(join(system.folder, 'cache'));
  file = join(system.folder, 'ratings.csv.gz');
  const lines = ratings.map(({ user, item, value, time }) => `${user},${item},${value},${time}`);
  writeFileSync(file, gzipSync(`user,item,rating,timestamp\n${lines.join('\n')}\nnobody,,3,1\n`));
});

afterAll(() => system?.close());

describe('freshet topics', () => {
  it('creates what is missing, and the second time only tells', async () => {
    const first = await freshet(['topics']);
    expect(first.code).toBe(0);
    expect(first.out).toMatch(/^ratings .*0 records .*\(created\)$/m);
    const rows = (await freshet(['topics', '--json'])).out.trim().split('\n');
    const listed = rows.map((row) => JSON.parse(row));
    const grams = listed.find(({ name }) => name === 'default.grams');
    expect(grams).toEqual({
      name: 'default.grams',
      created: false,
      carries: 'Grams',
      partitions: [{ first: 0, end: 0 }],
      misfits: [],
    });
  });

  it('compares the configuration of topics that are there with the one that is needed', async () => {
    const longer = await freshet(['topics'], { USER_RATINGS_DAYS: '30' });
    expect(longer.code).toBe(1);
    expect(longer.err.trim().split('\n')).toEqual(
      ['user-ratings', 'item-ratings'].map(
        (name) =>
          `freshet topics: default.${name} has retention.ms=604800000, and needs 2592000000 or more`,
      ),
    );
  });

  it('says by name what is wrong', async () => {
    const other = await freshet(['topics'], { SHARDS: '3' });
    expect(other).toMatchObject({ code: 1, out: '' });
    expect(other.err).toContain('topic default.user-ratings has 4 partitions and SHARDS is 3');
    const unknown = await freshet(['topics', '--jsn']);
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.err).toContain("Unknown option '--jsn'");
    const nobody = await freshet(['audit'], { MODEL: 'nobody' });
    expect(nobody).toMatchObject({ code: 3, out: '' });
    expect(nobody.err).toContain('there is no topic nobody.user-ratings, nobody.item-ratings');
  });
});

describe('freshet import', () => {
  it('that is killed goes on where it was, and sends every rating once', async () => {
    const killed = start(['import', file]);
    const closed = new Promise((resolve) => killed.on('close', (_, name) => resolve(name)));
    await system.withSession(async ({ admin }) => {
      await eventually('some ratings to be there', async () => {
        return [...(await admin.ends('ratings')).values()].some((end) => end > 0);
      });
      killed.kill('SIGKILL');
    });
    expect(await closed).toBe('SIGKILL');
    const before = await produced();
    expect(before).toBeLessThan(ratings.length);
    const second = await freshet(['import', file]);
    expect(second).toMatchObject({ code: 0 });
    expect(second.out).toContain(`${before} sent before`);
    expect(second.err).toContain('line 120002: no item; skipped');
    expect(await produced()).toBe(ratings.length);
    const third = await freshet(['import', file]);
    expect(third).toMatchObject({ code: 0 });
    expect(third.out).toContain(`was imported already, ${ratings.length} ratings`);
    expect(await produced()).toBe(ratings.length);
  });

  it('that dies between an acknowledgement and its note, on some partitions only, repeats nothing', async () => {
    await system.withSession(async (session) => {
      const { kafka, admin } = session;
      await admin.ensure({ model: 'half', shards: SHARDS, days: 7, replication: 1, sources: [] });
      const topic = 'half.item-ratings'; // any topic of four partitions that nobody reads
      const publisher = await Publisher.open(kafka);
      const batch: FileRating[] = ratings.slice(0, 9_000);
      let state: ImportState = {
        file,
        id: 'x1',
        partitions: SHARDS,
        chunks: 0,
        ratings: 0,
        ends: [],
        done: false,
      };
      let publishes = 0;
      const reader = new RatingReader({ valueMax: 5, schemaIds: [] });
      const importing = (): Parameters<typeof importRatings>[0] => ({
        kafka,
        admin,
        model: 'half',
        log: openLog('test', 'error'),
        topic,
        partitions: SHARDS,
        check: new IntakeCheck(file, reader, (_, reason) => expect.unreachable(reason)),
        batches: [batch],
        state,
        save: (next) => {
          state = next;
        },
        onSent: () => {},
        signal: new AbortController().signal,
        publisher: {
          publish: async (records) => {
            const isCut = ++publishes === 2;
            await publisher.publish(records.filter(({ partition }) => !isCut || partition !== 2));
            if (isCut) throw new Error('killed');
          },
        },
      });
      await expect(importRatings(importing())).rejects.toThrow('killed');
      expect(state).toMatchObject({ chunks: 1, done: false });
      const before = await produced(topic);
      expect(await importRatings(importing())).toEqual({
        sent: batch.length - before,
        skipped: before,
        interrupted: false,
      });
      expect(await produced(topic)).toBe(batch.length);
      await publisher.close();
    });
  });

  it('says what is wrong with a file, and leaves the topic alone', async () => {
    expect((await freshet(['import', '/nowhere.csv'])).err).toContain('no such file');
    expect((await freshet(['import', '/dev/stdin'])).err).toContain('is a pipe: import -');
    expect((await freshet(['import'])).err).toContain('one FILE is needed');
    const noise = join(system.folder, 'noise.csv');
    writeFileSync(noise, 'user,item,rating\nann,tea,5\nann,tea,x\n');
    const refused = await freshet(['import', noise]);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.err).toContain('more than 1 %');
  });
});

describe('freshet factorize', () => {
  it('before it, an audit says that nothing has been applied yet, and there is nothing to learn', async () => {
    const { code, out } = await freshet(['audit', '--wait', '0']);
    expect(code).toBe(2);
    expect(out).toContain(`${ratings.length} `);
    expect((await freshet(['factorize'])).code).toBe(1);
  });

  it('refuses a model whose updater is running', async () => {
    const time = Date.now();
    await sendRatings(system, [
      { user: 'u1', value: { user: 'u1', item: 'taken-back', value: 5, time } },
      { user: 'u1', value: { user: 'u1', item: 'taken-back', value: null, time: time + 1 } },
      { user: 'gone', value: { user: 'gone', item: 'i1', value: 5 }, partition: 2 },
      { user: 'gone', value: null, partition: 2 },
      { user: 'anywhere', value: { user: 'anywhere', item: 'i1', value: 4 }, partition: 0 },
      { user: 'anywhere', value: { user: 'anywhere', item: 'i2', value: 4 }, partition: 1 },
      { user: 'poison', value: 'not a rating' },
    ]);
    for (const name of serviceNames) system.launch(name);
    for (const name of serviceNames) await system.ready(name);
    const { code, err } = await freshet(['factorize']);
    expect(code).toBe(1);
    expect(err).toContain('updater stages are running');
    await system.settled();
  });

  it('learns what is known anew, all at once', async () => {
    await system.child('updater').stop();
    const before = await system.snapshot();
    const { code, out, err } = await freshet(['factorize', '--passes', '4']);
    expect(code, err).toBe(0);
    expect(out).toContain(`${pairs.size + 2} ratings`);
    const after = await system.snapshot();
    expect(after.ratings).toEqual(before.ratings);
    expect(violationsOf(after, before.ratings)).toEqual([]);
    expect(after.ratings.size).toBe(pairs.size + 2);
    expect(after.ratings).toContain('anywhere i1 4');
  });

  it('leaves a model from which the services go on: nothing is applied twice, an audit is clean', async () => {
    system.launch('updater');
    await system.ready('updater');
    await sendRatings(system, [
      { user: 'u1', value: { user: 'u1', item: 'i1', value: 3 } },
      { user: 'newcomer', value: { user: 'newcomer', item: 'i1', value: 5 } },
      // Older than the time at which it was taken back: must not return.
      { user: 'u1', value: { user: 'u1', item: 'taken-back', value: 5, time: 1 } },
    ]);
    await system.settled();
    const applied = (side: string) =>
      system.metric('updater', 'freshet_ratings_applied_total', { side });
    expect(await applied('user')).toBe(2);
    expect(await applied('item')).toBe(2);
    const { code, out } = await freshet(['audit']);
    expect(out).toMatch(/\nclean\n$/);
    expect(code).toBe(0);
    expect((await system.recommendations('newcomer')).fallback).toBeNull();
  });
});

describe('freshet audit', () => {
  it('finds no violation while ratings stream', async () => {
    const stop = new AbortController();
    const streaming = system.withSession(async ({ kafka }) => {
      const publisher = await Publisher.open(kafka);
      for (let n = 0; !stop.signal.aborted; n++) {
        const rating = { user: `u${n % 50}`, item: `i${n % 37}`, value: n % 5 };
        await publisher.publish([ratingsRecord({ user: rating.user, value: rating })]);
      }
      await publisher.close();
    });
    const { code, out } = await freshet(['audit', '--wait', '2', '--json']);
    stop.abort();
    await streaming;
    expect(code).not.toBe(1);
    expect(
      JSON.parse(out).checks.filter((check: { status: string }) => check.status === 'violated'),
    ).toEqual([]);
  });

  it('waits with import --wait until everything is applied: events, each by its kind and time', async () => {
    const more = join(system.folder, 'more.csv');
    const events = ['late,i1,refund,30', 'late,i1,buy,10', 'late,i2,view,20', 'late,i3,buy,40'];
    writeFileSync(more, `user,item,event,ts\n${events.join('\n')}\n`);
    const RATING_KINDS = 'view:1,buy:5,refund:null';
    const { code, out } = await freshet(['import', more, '--wait', '--by-time'], { RATING_KINDS });
    expect(code).toBe(0);
    expect(out).toContain('4 ratings sent');
    expect(out).toContain('applied on both sides');
    const answer = await fetch(`${system.scorerUrl}/v1/users/late`);
    expect(await answer.json()).toMatchObject({
      ratings: [
        { item: 'i2', value: 1 },
        { item: 'i3', value: 5 },
      ],
    });
  });
});

describe('freshet dead-letters', () => {
  it('lists what was parked and why, without obeying its bytes', async () => {
    await sendRatings(system, [
      { user: 'loud', value: { user: 'loud', item: 'i1', value: 500 } },
      { user: 'esc', value: '\u001b[2Jboo' },
    ]);
    const { out } = await eventually('the letters', async () => {
      const listed = await freshet(['dead-letters', 'list']);
      return listed.out.includes('3 dead letters: 2 not-json, 1 bad-value') && listed;
    });
    expect(out).toContain('\\x1b[2Jboo');
    expect(out).not.toContain('\u001b');
    const only = await freshet(['dead-letters', 'list', '--reason', 'bad-value', '--json']);
    expect(JSON.parse(only.out)).toMatchObject({ reason: 'bad-value', topic: 'ratings' });
    expect((await freshet(['dead-letters', 'list', '--reason', 'boredom'])).code).toBe(1);
  });

  it('replays nothing on a dry run, and the original bytes else', async () => {
    const before = await produced();
    const dry = await freshet(['dead-letters', 'replay', '--reason', 'bad-value', '--dry-run']);
    expect(dry.out).toContain('1 would be replayed, 1 of them only to be parked again');
    expect(await produced()).toBe(before);
    const replayed = await freshet(['dead-letters', 'replay', '--reason', 'bad-value']);
    expect(replayed.out).toContain('1 replayed');
    expect(await produced()).toBe(before + 1);
    await eventually('it to be parked again, as a replay', async () => {
      return (await freshet(['dead-letters', 'list'])).out.match(/\(replayed from \d+\)/) !== null;
    });
  });
});

describe('freshet audit of a broken model', () => {
  it('names the shard whose gram and count were changed behind its back', async () => {
    await system.settled();
    for (const name of serviceNames) await system.child(name).stop();
    await system.withSession(async ({ store }) => {
      const id = { side: 'user', shard: 1 } as const;
      const { position, sums, facts } = await store.takeOver(id, 1_000_000);
      const zeroed = new Uint8Array(sums?.length ?? 0);
      const commit = { epoch: 1_000_000, id: 'broken', from: position ?? 0, next: position ?? 0 };
      const nothing = { vectors: new Map(), removed: [], bodies: new Map() };
      const outbox = new Uint8Array();
      const wrong = { ...facts, ratings: facts.ratings + 1 };
      await store.commit(id, { ...commit, ...nothing, sums: zeroed, outbox, facts: wrong });
    });
    const { code, out } = await freshet(['audit', '--wait', '1']);
    expect(code).toBe(1);
    expect(out).toMatch(/violated {5}grams .*\n +user shard 1: its gram is off by/);
    expect(out).toMatch(/violated {5}rows .*\n +user shard 1: counts \d+ ratings/);
    expect(out).toMatch(/\nviolation\n$/);
  });
});
