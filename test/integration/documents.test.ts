/** Do the examples of docs/examples do what they say, against a system that runs? */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { eventually, System } from '@freshet/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../../docs/examples', import.meta.url));
/** Told as text: the examples are no part of the build. */
const load = (name: string) => import(pathToFileURL(join(folder, name)).href);
let system: System;

describe('the examples', () => {
  beforeAll(async () => {
    system = await System.start({ PUSH: 'true' });
  });

  afterAll(() => system?.close());

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
    const { stdout } = await run('sh', [join(folder, 'curl.sh'), system.scorerUrl]);
    const [placed = '', list = ''] = stdout.trim().split('\n');
    expect(JSON.parse(placed).ratings).toHaveLength(1);
    const { items, fallback } = JSON.parse(list);
    expect(fallback).toBeNull();
    expect(items.map(({ item }: { item: string }) => item)).not.toContain('the-bold-summit-i48');
  });

  it('kcat.sh: an answer comes with the correlation id of the question', async () => {
    const { stdout } = await run('sh', [join(folder, 'kcat.sh'), system.brokers]);
    expect(stdout).toContain('correlation-id=ask-');
    expect(stdout).toContain('"user":"me"');
  });
});
