/**
 * Do the commands and the examples of the documents do what they say, against a system that runs?
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { generateRatings } from '@freshet/experiments';
import { pythonWith } from '@freshet/local';
import { Command, eventually, kcatProduce, System } from '@freshet/testkit';
import { Kafka } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onPath } from '../../packages/local/src/on-path.ts';
import { shellBlocks } from '../tidy/pages.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const examples = join(root, 'docs/examples');
/** The path is not a literal, so that the compiler does not make the examples part of the build. */
const load = (name: string) => import(pathToFileURL(join(examples, name)).href);
let system: System;
/** The first time, the clients are installed from PyPI. */
const PYTHON_LIMIT_MS = 300_000;

beforeAll(async () => {
  system = await System.start({ PUSH: 'true' });
});

afterAll(() => system?.close());

describe('the examples', () => {
  it('producer.ts and consumer.ts: ratings go in, a pushed list comes out', async () => {
    const { sendRatings } = await load('producer.ts');
    const { readRecommendations } = await load('consumer.ts');
    const lists = new Map<string, { items: { item: string }[] }>();
    const receive = (list: { user: string; items: { item: string }[] }, isPush: boolean) => {
      if (isPush) lists.set(list.user, list);
    };
    const stop = await readRecommendations([system.brokers], 'example', receive);
    const items = ['a', 'b', 'the-bold-summit-i48'];
    const crowd = ['u1', 'u2', 'u3'].flatMap((user) => items.map((item) => ({ user, item })));
    await sendRatings([system.brokers], [...crowd, { user: 'ada', item: 'a', value: 5 }]);
    await eventually('a list for ada without what she has rated', async () => {
      const list = lists.get('ada');
      return list?.items.every(({ item }) => item !== 'a');
    });
    await stop();
  });

  it('curl.sh: the rating is in the very next list', async () => {
    const { stdout } = await run('sh', [join(examples, 'curl.sh'), system.scorerUrl]);
    const [placed = '', list = ''] = stdout.trim().split('\n');
    expect(JSON.parse(placed).ratings).toHaveLength(1);
    const { items, fallback } = JSON.parse(list);
    expect(fallback).toBeNull();
    expect(items.map(({ item }: { item: string }) => item)).not.toContain('the-bold-summit-i48');
  });

  it.skipIf(!onPath('python3'))(
    'example.py: the rating is in the very next list, and a list is pushed',
    async () => {
      const python = await pythonWith('python-clients', {
        requests: 'requests',
        'confluent-kafka': 'confluent_kafka',
      });
      const args = [join(examples, 'example.py'), system.brokers, system.scorerUrl];
      const printed = async () => {
        const { stdout } = await run(python, args);
        return stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
      };
      const [, pushed] = await printed();
      // The list that was pushed the first time still lies on the topic.
      const lists = await printed();
      expect(lists).toHaveLength(2);
      expect(lists[1].model.position).toBeGreaterThan(pushed.model.position);
      for (const { user, items, fallback } of lists) {
        expect({ user, fallback }).toEqual({ user: 'python', fallback: null });
        expect(items.map(({ item }: { item: string }) => item)).not.toContain(
          'the-bold-summit-i48',
        );
      }
    },
    PYTHON_LIMIT_MS,
  );

  it('kcat.sh: an answer comes with the correlation id of the question', async () => {
    const { stdout } = await run('sh', [join(examples, 'kcat.sh'), system.brokers]);
    expect(stdout).toContain('correlation-id=ask-');
    expect(stdout).toContain('"user":"me"');
  });
});

describe('a shell block of', () => {
  let folder: string;

  /** A reader's folder: the files that the pages speak of, and an npm that builds nothing. */
  beforeAll(async () => {
    folder = join(system.folder, 'reader');
    mkdirSync(join(folder, 'bin'), { recursive: true });
    const npm = join(folder, 'bin/npm');
    const main = join(root, 'packages/cli/dist/main.js');
    const others = `*) echo "no test runs npm $*" >&2; exit 64`;
    // The real one prints a line of its own unless it is silent, which a file must not get.
    const forms = `"run freshet --silent --") shift 4;; "run freshet -- "*) shift 3; echo "> npm";;`;
    writeFileSync(
      npm,
      `#!/bin/sh\ncase "$1 $2 $3 $4" in ${forms} ${others}; esac\nexec "${process.execPath}" "${main}" "$@"\n`,
    );
    chmodSync(npm, 0o755);
    const page = readFileSync(join(root, 'docs/how-to/map-your-events.md'), 'utf8');
    const [, events = ''] = /^```json\n([\s\S]*?)^```$/m.exec(page) ?? [];
    writeFileSync(join(folder, 'events.jsonl'), events);
    const ratings = [...generateRatings({ users: 60, items: 40, ratings: 1_000, seed: 1 })];
    const lines = ratings.map(({ user, item, value, time }) => `${user},${item},${value},${time}`);
    writeFileSync(join(folder, 'ratings.csv'), `user,item,rating,time\n${lines.join('\n')}\n`);
    const admin = new Kafka({ brokers: [system.brokers], logLevel: 0 }).admin();
    await admin.createTopics({ topics: [{ topic: 'my-topic' }] });
    await admin.disconnect();
    const bought = { user: 'ann', product: { id: 'tea' }, stars: 4 };
    await kcatProduce(system.brokers, 'my-topic', [['ann', bought]]);
  });

  /** The pages name the ports that a system has by default. */
  const here = (script: string): string =>
    script
      .replaceAll('127.0.0.1:9092', system.brokers)
      .replaceAll('http://127.0.0.1:8080', system.scorerUrl);

  /** A line of a page as a pattern of what is printed: … stands for anything. */
  const pattern = (line: string): RegExp =>
    new RegExp(`^${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*')}$`, 'm');

  it.each(shellBlocks().filter(({ mark }) => mark === ''))(
    '$page, line $line, does what the page says',
    async ({ script, shown }) => {
      const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
      const XDG_CACHE_HOME = join(system.folder, 'cache');
      const variables = { ...system.environment, PATH, XDG_CACHE_HOME };
      const command = new Command('sh', ['-eu', '-c', here(script)], variables, folder);
      const code = await command.exited;
      for (const line of shown?.split('\n') ?? []) expect(command.out).toMatch(pattern(line));
      // A page that shows a failure shows its output.
      if (shown === undefined) expect(code, command.out + command.err).toBe(0);
    },
  );
});
