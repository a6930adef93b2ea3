/**
 * A new user with ratings of her own and docs/getting-started.md: the commands of the page lead to
 * recommendations, from a file by one command and from a topic by settings alone.
 */
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateRatings } from '@freshet/experiments';
import { Command, eventually, kcatProduce, type Recommended } from '@freshet/testkit';
import { Kafka } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandsOf, shellBlocks } from '../tidy/pages.ts';
import { emptyCache, npmFolder } from './new-machine.ts';

const cache = await emptyCache();
const folder = join(cache, 'reader');
const bin = npmFolder(folder);
const ratings = [...generateRatings({ users: 80, items: 60, ratings: 1_000, seed: 3 })];
const commands: Command[] = [];
const HTTP_TOKEN = 'only the scorer and I know this';

/** The command of the page that matches. */
function fromPage(pattern: RegExp): string {
  const blocks = shellBlocks().filter(({ page }) => page === 'docs/getting-started.md');
  const all = blocks.flatMap(({ script }) => commandsOf(script));
  const found = all.find((command) => pattern.test(command));
  if (found === undefined) throw new Error(`the page has no command like ${pattern}`);
  return found;
}

/** Runs a line of the page where Freshet has never run; ports may be any that are free. */
function type(line: string, variables: Record<string, string> = {}): Command {
  const PATH = `${bin}:${process.env.PATH}`;
  const all = { XDG_CACHE_HOME: cache, PATH, ...variables };
  const command = new Command('sh', ['-c', `exec env ${line}`], all, folder);
  commands.push(command);
  return command;
}

function printed(command: Command, name: string): string {
  return new RegExp(`^  ${name} +(\\S+)$`, 'm').exec(command.out)?.[1] ?? '';
}

async function listFor(command: Command, user: string): Promise<Recommended> {
  const { origin } = new URL(printed(command, 'recommendations'));
  const headers = { authorization: `Bearer ${HTTP_TOKEN}` }; // not asked for where none is set
  const answer = await fetch(`${origin}/v1/recommendations/${user}?n=5`, { headers });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return (await answer.json()) as Recommended;
}

const ratedBy = (user: string) => ratings.filter((one) => one.user === user).map((one) => one.item);

function expectOwnList({ items, fallback }: Recommended, user: string): void {
  expect(fallback).toBeNull();
  expect(items).toHaveLength(5);
  const rated = ratedBy(user);
  expect(items.filter(({ item }) => rated.includes(item))).toEqual([]);
}

beforeAll(() => {
  const lines = ratings.map(({ user, item, value, time }) => `${time},${user},${item},${value}`);
  writeFileSync(join(folder, 'ratings.csv'), `date,user_id,sku,stars\n${lines.join('\n')}\n`);
});

afterAll(async () => {
  // The last first: it uses the Kafka of the one before.
  for (const command of commands.reverse()) await command.stop();
  rmSync(cache, { recursive: true, force: true });
});

describe('a file of ratings', () => {
  it('that cannot be read is refused in one line, before anything starts', async () => {
    const files: [name: string, content: string | undefined, complaint: RegExp][] = [
      ['missing.csv', undefined, /no such file.*missing\.csv/],
      ['empty.csv', '', /^freshet: empty\.csv has no ratings$/],
      ['table.xlsx', 'PK\u0003\u0004\u0014\0\u0006\0,,\n', /table\.xlsx: it is not text.*save it/],
      ['fruit.csv', 'apples,pears,plums\n1,2,3\n', /fruit\.csv: no column for user.*--columns/],
      ['plays.tsv', 'user\titem\tweight\nann\ttea\t2112\n', /not 2112\. Set RATING_MAX.*none/],
      ['words.csv', 'user,item,rating\nann,tea,good\n', /words\.csv: 1 of the first 1 .*a number/],
      ['soon.csv', 'user,item,rating,time\nann,tea,5,2999-01-01\n', /5 minutes ahead.*--columns/],
      ['.', undefined, /\.: it is a folder/],
      ['/dev/stdin', undefined, /\/dev\/stdin is a pipe.*save it as a file/],
    ];
    const refusals = files.map(async ([name, content, complaint]) => {
      if (content !== undefined) writeFileSync(join(folder, name), content);
      const command = type(fromPage(/start -- --ratings/).replace('ratings.csv', name));
      expect(await command.exited).toBe(1);
      expect(command.complaints).toEqual([expect.stringMatching(complaint)]);
      expect(command.out).toBe('');
    });
    await Promise.all(refusals);
  });

  it('is learnt by one command, which shows a list and says how to ask for others', async () => {
    const command = type(fromPage(/start -- --ratings/), { HTTP_TOKEN });
    await command.said(/ready after/);
    expect(command.out).toContain(`${ratings.length} ratings sent`);
    const [, user = '', list = ''] = /for user (\S+) of your file: (.*)/.exec(command.out) ?? [];
    expect(list.split(', ').filter((item) => !ratedBy(user).includes(item))).toHaveLength(5);
    const [, ask = ''] = /ask for any user: (curl .*)/.exec(command.out) ?? [];
    const env = { ...process.env, HTTP_TOKEN };
    const { stdout } = await promisify(execFile)('sh', ['-c', ask], { env });
    expectOwnList(JSON.parse(stdout), user);
    // With a token services listen on all addresses, unless they are told one.
    const elsewhere = printed(command, 'recommendations').replace('127.0.0.1', '127.0.0.2');
    await expect(fetch(elsewhere)).rejects.toThrow('fetch failed');
    expectOwnList(await listFor(command, ratings.at(-1)?.user ?? ''), ratings.at(-1)?.user ?? '');
    // The made-up films of the demo, and who rates them, are not among them.
    expect(await listFor(command, 'ada')).toMatchObject({ fallback: 'newcomer' });
  });
});

describe('a topic with field names of its own, compressed with snappy', () => {
  it('is learnt by settings alone, beside one that is created later', async () => {
    const [first] = commands.slice(-1);
    if (first === undefined) throw new Error('the file comes first: its Kafka is used here');
    const brokers = printed(first, 'Kafka');
    const admin = new Kafka({ brokers: [brokers], logLevel: 0 }).admin();
    const create = (topic: string) => admin.createTopics({ topics: [{ topic, numPartitions: 3 }] });
    await create('shop-events');
    const events = ratings.map(({ user, item, value, time }, at) => {
      const event = {
        customer: { id: user },
        sku: item,
        stars: value,
        at: Math.round(time / 1e3),
      };
      return [`key-${at % 97}`, event] as const;
    });
    await kcatProduce(brokers, 'shop-events', events, ['-z', 'snappy', '-X', 'linger.ms=200']);
    const here = (line: string) => line.replace('127.0.0.1:9092', brokers);

    const trial = type(here(fromPage(/intake try/)));
    expect(await trial.exited, trial.err).toBe(0);
    expect(trial.out).toContain('20 of 20 records would count');
    // The Kafka is in use by another model: this one has a name of its own. No demo is written to
    // its topic ratings, although that is a source.
    const topics = '=shop-events,shop-later,ratings';
    const start = fromPage(/RATINGS_TOPICS/).replace('=shop-events', topics);
    const command = type(here(start), { MODEL: 'shop' });
    await command.said(/updater waits for the topic shop-later, which does not exist/);
    await create('shop-later');
    await admin.disconnect();
    await command.said(/ready after/);
    expect(command.out).toContain('no demo stream: on a Kafka of yours');
    const user = ratings.at(-1)?.user ?? '';
    const list = await eventually('a list that knows all that the user rated', async () => {
      const answer = await listFor(command, user);
      const shown = answer.items.map(({ item }) => item);
      const isOwn = answer.fallback === null && shown.length === 5;
      return isOwn && !ratedBy(user).some((item) => shown.includes(item)) && answer;
    });
    expect(list.model.name).toBe('shop');
  });
});
