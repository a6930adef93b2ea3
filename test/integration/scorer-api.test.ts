/** Everything that can be asked of a scorer, over HTTP and Kafka, on real servers. */
import type { LabelSet } from '@freshet/telemetry';
import { eventually, filmClub, filmClubRatings, kcat, System } from '@freshet/testkit';
import { Kafka, Partitioners, type Producer } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let system: System;
let producer: Producer;
let kafka: Kafka;
const pushed = new Set<string>();
const answered: string[] = [];
/** By topic and value of the header: the user of each record with a traceparent. */
const traced = new Map<string, string>();
/** What the ratings topic holds, by partition:offset. */
const produced = new Map<string, string>();

const { films: FILMS, people: PEOPLE, ratedEach } = filmClub;
/** Ratings that are sent at once. After each wave both sides get the vectors of the other. */
const WAVE = 24 * ratedEach;

interface Listed {
  items: { item: string; score: number; title?: string; categories?: string[] }[];
  fallback: string | null;
  model: {
    position: number | null;
    sequence: number | null;
    lag: { ratings: number; ms: number } | null;
  };
}

async function ask<T = Listed>(path: string, init: RequestInit = {}, status = 200): Promise<T> {
  const headers = init.body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(`${system.scorerUrl}${path}`, { headers, ...init });
  const text = await response.text();
  expect(response.status, text).toBe(status);
  return JSON.parse(text) as T;
}

const post = <T = Listed>(path: string, body: unknown, status = 200) =>
  ask<T>(path, { method: 'POST', body: JSON.stringify(body) }, status);

/**
 * Many at a time, but not all: a request that waits for the others for too long is answered 503.
 */
async function rateAll(ratings: readonly { user: string; item: string }[]): Promise<void> {
  for (let at = 0; at < ratings.length; at += 60) {
    await Promise.all(ratings.slice(at, at + 60).map(({ user, item }) => rate(user, item, 4)));
  }
}

interface Estimated {
  items: { item: string; score: number | null; expectedValue: number }[];
}

interface Place {
  partition: number;
  offset: number;
}

async function rate(user: string, item: string, value = 5): Promise<string> {
  const { ratings } = await post<{ ratings: Place[] }>('/v1/ratings', { user, item, value }, 202);
  return `${ratings[0]?.partition}:${ratings[0]?.offset}`;
}

const mean = (scored: readonly { score: number }[]) =>
  scored.reduce((sum, { score }) => sum + score, 0) / scored.length;

const names = ({ items }: Listed) => items.map(({ item }) => item);

describe('the scorer', () => {
  beforeAll(async () => {
    system = await System.start({ PUSH: 'true', AFTER_MS: '1500' });
    kafka = new Kafka({ brokers: [system.brokers], logLevel: 0 });
    producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const consumer = kafka.consumer({ groupId: 'listener', maxWaitTimeInMs: 100 });
    await consumer.connect();
    const topics = ['recommendations', 'ratings', 'ratings-dead-letter'];
    await consumer.subscribe({ topics, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ topic, partition, message: { headers, value, offset } }) => {
        const trace = headers?.traceparent;
        if (trace !== undefined) traced.set(`${topic} ${trace}`, String(value));
        if (topic === 'ratings-dead-letter') return;
        if (topic === 'ratings') return void produced.set(`${partition}:${offset}`, String(value));
        const { user } = JSON.parse(String(value));
        if (headers?.['freshet-push'] === undefined) answered.push(user);
        else pushed.add(user);
      },
    });
    const ratings = filmClubRatings();
    for (let at = 0; at < ratings.length; at += WAVE) {
      for (let from = at; from < at + WAVE; from += 96) {
        await post('/v1/ratings', ratings.slice(from, from + 96), 202);
      }
      await system.settled();
    }
    return () => consumer.disconnect();
  });

  afterAll(async () => {
    await producer?.disconnect();
    await system?.close();
  });

  it('reads its own writes: a rating is in the very next answer that asks for it', async () => {
    for (let nth = 0; nth < 40; nth++) {
      const item = `film-${nth % FILMS}`;
      const after = await rate(`reader-${nth}`, item);
      const list = await ask(`/v1/recommendations/reader-${nth}?n=50&after=${after}`);
      expect(names(list)).not.toContain(item);
      expect(list.fallback).toBeNull();
    }
  });

  it('never recommends a rated item whose rating its position covers, while ratings pour in', async () => {
    const background = rateAll(filmClubRatings());
    for (let nth = 0; nth < FILMS - 1; nth++) {
      const place = await rate('busy', `film-${nth}`);
      const list = await ask(`/v1/recommendations/busy?n=50&after=${place}`);
      expect(names(list).map((name) => Number(name.slice(5)))).toEqual(
        expect.not.arrayContaining(Array.from({ length: nth + 1 }, (_, film) => film)),
      );
    }
    await background;
  });

  it('says how far it is when a rating does not come, and refuses a topic that is no source', async () => {
    const [partition, offset] = (await rate('hasty', 'film-1')).split(':').map(Number);
    const path = `/v1/recommendations/hasty?after=${partition}:`;
    const refused = await ask<{ position: number; status: number }>(
      `${path}${(offset ?? 0) + 1_000}`,
      {},
      409,
    );
    expect(refused.position).toBeGreaterThan(offset ?? 0);
    await ask('/v1/recommendations/hasty?after=elsewhere/0:0', {}, 400);
  });

  it('tells of many ratings in one request where each of them lies', async () => {
    const sent = Array.from({ length: 60 }, (_, n) => ({
      user: `many-${n % 7}`,
      item: `film-${n % FILMS}`,
    }));
    const { ratings } = await post<{ ratings: Place[] }>('/v1/ratings', sent, 202);
    const places = ratings.map(({ partition, offset }) => `${partition}:${offset}`);
    await eventually('all of them on the topic', async () =>
      places.every((at) => produced.has(at)),
    );
    expect(places.map((at) => JSON.parse(produced.get(at) ?? ''))).toEqual(sent);
  });

  it('counts the commits that an answer knows of', async () => {
    const sequences: number[] = [];
    for (let nth = 0; nth < 3; nth++) {
      const after = await rate('counted', `film-${nth}`);
      await system.settled();
      await eventually('the batch to arrive', async () => {
        const { model } = await ask(`/v1/recommendations/counted?after=${after}`);
        if ((model.sequence ?? 0) <= (sequences.at(-1) ?? 0)) return false;
        return sequences.push(model.sequence ?? 0) > nth;
      });
    }
    expect(sequences).toHaveLength(3);
  });

  it('pages, excludes and includes what is rated', async () => {
    await system.settled();
    const all = names(await ask('/v1/recommendations/person-0?n=50&include_rated=true'));
    expect(all).toHaveLength(FILMS);
    const pages = [0, 8, 16].map((offset) =>
      ask(`/v1/recommendations/person-0?n=8&offset=${offset}&include_rated=true`),
    );
    expect((await Promise.all(pages)).flatMap(names)).toEqual(all);
    const path = `/v1/recommendations/person-0?n=50&exclude=${all[0]}&exclude=${all[1]}`;
    expect(names(await ask(path))).not.toEqual(expect.arrayContaining([all[0]]));
  });

  it('estimates what it recommends by, and the reasons add up to it', async () => {
    const { items } = await ask('/v1/recommendations/person-2?n=2');
    const list = items.map(({ item }) => item).join(',');
    const estimates = await ask<Estimated>(`/v1/estimates/person-2/${list},nothing%2Celse`);
    const scores = estimates.items.map(({ item, score }) => ({ item, score }));
    expect(scores).toEqual([...items, { item: 'nothing,else', score: null }]);
    // An expected value is on the scale of the ratings, which a score is not. Items without ratings
    // have one too.
    for (const { expectedValue } of estimates.items) {
      expect(expectedValue).toBeGreaterThan(0);
      expect(expectedValue).toBeLessThan(6);
    }
    const why = await ask<{
      score: number;
      contributions: { item: string; contribution: number }[];
      popular: number;
      newcomers: number;
      mean: number;
      after: { item: string; contribution: number }[];
      rest: number;
    }>(`/v1/users/person-2/because/${items[0]?.item}`);
    expect(why.score).toBe(items[0]?.score);
    const parts = [...why.contributions, ...why.after];
    const told = parts.reduce((sum, each) => sum + each.contribution, 0);
    const { popular, newcomers, mean, rest } = why;
    expect(told + popular + newcomers + mean + rest).toBeCloseTo(why.score, 10);
    expect(why.contributions.length).toBeGreaterThan(3);
  });

  it('tells what comes after an item, and lets a list say so', async () => {
    // Everybody who rates film-1 rates film-20 next.
    for (let nth = 0; nth < 12; nth++) {
      await rate(`follower-${nth}`, 'film-1');
      const place = await rate(`follower-${nth}`, 'film-20');
      await ask(`/v1/recommendations/follower-${nth}?after=${place}`);
    }
    await eventually('the list of film-20', async () => {
      // A shard tells a list at most every two seconds, and only with a commit.
      await rate('somebody else', 'film-20');
      return names(await ask('/v1/items/film-1/next?n=5')).includes('film-20');
    });
    expect(names(await ask('/v1/items/nothing/next'))).toEqual([]);
    const place = await rate('led', 'film-1');
    await ask(`/v1/recommendations/led?after=${place}`);
    const why = await ask<{ after: { item: string; contribution: number }[] }>(
      '/v1/users/led/because/film-20',
    );
    expect(why.after.map(({ item }) => item)).toEqual(['film-1']);
    expect(why.after[0]?.contribution).toBeGreaterThan(0);
  });

  it('folds a guest in without storing anything', async () => {
    const lead = async (films: readonly number[]) => {
      const ratings = films.map((film) => ({ item: `film-${film}`, value: 5 }));
      const list = await post('/v1/recommendations', { ratings, n: 50 });
      expect(list.fallback).toBeNull();
      expect(names(list)).not.toContain(`film-${films[0]}`);
      // By how much the even films that are left outscore the odd ones, on the average.
      const left = list.items.map(({ item, score }) => ({ film: Number(item.slice(5)), score }));
      return (
        mean(left.filter(({ film }) => film % 2 === 0)) -
        mean(left.filter(({ film }) => film % 2 === 1))
      );
    };
    expect(await lead([0, 2, 4, 6])).toBeGreaterThan(await lead([1, 3, 5, 7]));
    const nothing = await post('/v1/recommendations', { ratings: [{ item: 'unheard of' }] });
    expect(nothing.fallback).toBe('newcomer');
  });

  it('answers for several users at once as for each alone', async () => {
    const users = ['person-0', 'person-1', 'somebody new'];
    const { recommendations } = await post<{ recommendations: Listed[] }>(
      '/v1/recommendations/batch',
      { users, n: 3 },
    );
    const alone = users.map((user) => ask(`/v1/recommendations/${user}?n=3`));
    expect(recommendations.map(names)).toEqual((await Promise.all(alone)).map(names));
  });

  it('tells what is alike, what is popular and what a user has rated', async () => {
    const alike = await Promise.all(
      Array.from({ length: FILMS }, (_, film) => ask(`/v1/items/film-${film}/similar?n=4`)),
    );
    const isOfKind = alike.flatMap((list, film) => {
      return names(list).map((name) => Number(name.slice(5)) % 2 === film % 2);
    });
    expect(isOfKind.filter(Boolean).length).toBeGreaterThan(0.75 * isOfKind.length);
    expect((await ask('/v1/items/nothing/similar')).fallback).toBe('newcomer');
    expect((await ask('/v1/items/popular?n=3')).items).toHaveLength(3);
    const known = await ask<{ ratings: object[]; model: Listed['model'] }>('/v1/users/person-4');
    expect(known.ratings.length).toBeGreaterThan(3);
    expect(known.model.lag).toEqual({ ratings: 0, ms: 0 });
  });

  it('takes a rating back and forgets a user', async () => {
    const place = await rate('leaver', 'film-3');
    await ask(`/v1/recommendations/leaver?after=${place}`);
    const gone = await ask<Place>('/v1/ratings/leaver/film-3', { method: 'DELETE' }, 202);
    const after = `${gone.partition}:${gone.offset}`;
    expect(names(await ask(`/v1/recommendations/leaver?n=50&after=${after}`))).toContain('film-3');
    await rate('leaver', 'film-4');
    const forgotten = await ask<Place>('/v1/users/leaver', { method: 'DELETE' }, 202);
    const list = await ask(
      `/v1/recommendations/leaver?after=${forgotten.partition}:${forgotten.offset}`,
    );
    expect(list.fallback).toBe('newcomer');
  });

  it('knows of the items topic: titles, categories, withdrawal', async () => {
    const message = (film: number, about: object) => ({
      key: `film-${film}`,
      value: JSON.stringify(about),
    });
    const messages = [
      message(0, { title: 'Zero', categories: ['Even'] }),
      message(2, { title: 'Two', categories: ['Even'] }),
      message(4, { withdrawn: true, categories: ['Even'] }),
      { key: 'film-5', value: 'nonsense' },
    ];
    await producer.send({ topic: 'items', messages });
    const path = '/v1/recommendations/somebody?n=50';
    await eventually('film 4 to be withdrawn', async () => {
      return !names(await ask(path)).includes('film-4');
    });
    const even = await ask(`${path}&category=Even`);
    expect(even.items.map(({ title }) => title).sort()).toEqual(['Two', 'Zero']);
    await producer.send({ topic: 'items', messages: [{ key: 'film-4', value: null }] });
    await eventually('film 4 to be back', async () => names(await ask(path)).includes('film-4'));
  });

  it('pushes fresh lists for users whose vector moved', async () => {
    await eventually('a push for everybody', async () => pushed.size >= PEOPLE);
    pushed.clear();
    await rate('pushed-to', 'film-1');
    await eventually('a push after a rating', async () => pushed.has('pushed-to'));
    expect(pushed.has('person-0')).toBe(false);
  });

  it('passes the trace of a record or request on to what follows from it', async () => {
    const trace = (nth: number) => `00-${String(nth).repeat(32)}-00f067aa0ba902b7-01`;
    const send = (topic: string, nth: number, value: string) =>
      kcat(system.brokers, ['-P', '-t', topic, '-H', `traceparent=${trace(nth)}`], `${value}\n`);
    const seen = (topic: string, nth: number) =>
      eventually(`trace ${nth} on ${topic}`, async () => traced.get(`${topic} ${trace(nth)}`));
    await send('ratings', 1, '{"user":"traced","item":"film-1","value":5}');
    expect(JSON.parse(await seen('recommendations', 1)).user).toBe('traced');
    await send('ratings', 2, '{"user":"traced"}');
    expect(await seen('ratings-dead-letter', 2)).toBe('{"user":"traced"}');
    await send('recommendation-requests', 3, '{"user":"asking"}');
    expect(JSON.parse(await seen('recommendations', 3)).user).toBe('asking');
    const posted = await fetch(`${system.scorerUrl}/v1/ratings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: trace(4) },
      body: JSON.stringify({ user: 'posting', item: 'film-2', value: 5 }),
    });
    expect(posted.headers.get('traceparent')).toBe(trace(4));
    expect(JSON.parse(await seen('ratings', 4)).user).toBe('posting');
    expect(JSON.parse(await seen('recommendations', 4)).user).toBe('posting');
  });

  it('leaves requests alone whose deadline has passed', async () => {
    const request = (user: string, deadline: number) => ({
      key: 'same',
      value: JSON.stringify({ user }),
      headers: { deadline: String(deadline) },
    });
    const messages = [request('too late', Date.now() - 1), request('in time', Date.now() + 60_000)];
    await producer.send({ topic: 'recommendation-requests', messages });
    await eventually('the answer', async () => answered.includes('in time'));
    expect(answered).not.toContain('too late');
  });

  it('shows on /metrics what was asked, pushed and read, and how soon ratings could be served', async () => {
    const count = (name: string, labels: LabelSet = {}) => system.metric('scorer', name, labels);
    for (const side of ['user', 'item']) {
      const servable = await count('freshet_rating_servable_seconds_count', { side });
      expect(servable, side).toBeGreaterThan(0);
    }
    for (const kind of ['recommend', 'insight', 'rate']) {
      const labels = { transport: 'http', kind, outcome: 'ok' };
      expect(await count('freshet_request_duration_seconds_count', labels), kind).toBeGreaterThan(
        0,
      );
    }
    for (const outcome of ['hit', 'miss']) {
      expect(await count('freshet_user_reads_total', { outcome })).toBeGreaterThan(0);
    }
    expect(await count('freshet_answer_bytes_count', { transport: 'kafka' })).toBeGreaterThan(0);
    expect(await count('freshet_recommendations_pushed_total')).toBeGreaterThanOrEqual(PEOPLE);
  });

  it('knows at every scrape how many ratings it has not been told of', async () => {
    const lag = () => system.metric('scorer', 'freshet_lag_ratings_all', { point: 'served' });
    await system.settled();
    await eventually('no lag', async () => (await lag()) === 0);
    system.child('updater').signal('SIGSTOP');
    try {
      for (const sent of [7, 18]) {
        const ratings = Array.from({ length: sent }, (_, n) => ({
          user: `late-${n}`,
          item: 'film-2',
        }));
        await post('/v1/ratings', ratings, 202);
        expect(await lag()).toBe(sent === 7 ? 7 : 25);
      }
    } finally {
      system.child('updater').signal('SIGCONT');
    }
    await eventually('no lag again', async () => (await lag()) === 0);
  });
});
