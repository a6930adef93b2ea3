import { openLog, ServerAway } from '@freshet/telemetry';
import { expect, it } from 'vitest';
import { ServerWatch } from './server-watch.ts';

function watch() {
  const clock = { now: 0 };
  const away = new Set<string>();
  const failures: unknown[] = [];
  const answer = (server: string) => async () => {
    if (away.has(server)) throw new ServerAway(server);
  };
  const watching = new ServerWatch({
    ask: { kafka: answer('kafka'), redis: answer('redis') },
    log: openLog('watch', 'silent'),
    fail: (error) => void failures.push(error),
    now: () => clock.now,
  });
  const look = async (seconds: number): Promise<string | null> => {
    for (let second = 0; second < seconds; second++) {
      clock.now += 1_000;
      watching.look();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return watching.waitingFor();
  };
  return { watching, away, failures, look };
}

it('rides a short absence out, then names the server, until it answers again', async () => {
  const { watching, away, failures, look } = watch();
  expect(await look(10)).toBeNull();
  away.add('redis');
  expect(await look(5)).toBeNull();
  expect(await look(4)).toMatch(/^Redis, which has not answered for 9 s/);
  away.delete('redis');
  expect(await look(1)).toBeNull();
  away.add('kafka');
  expect(await look(6)).toMatch(/^Kafka/);
  expect(failures).toEqual([]);
  await watching.close();
});

it('ends the process for what no waiting mends', async () => {
  const failures: unknown[] = [];
  const bug = new TypeError('a bug');
  const ask = { kafka: () => Promise.reject(bug), redis: async () => {} };
  const fail = (error: unknown) => void failures.push(error);
  const watching = new ServerWatch({ ask, log: openLog('watch', 'silent'), fail });
  watching.look();
  await new Promise((resolve) => setImmediate(resolve));
  expect(failures).toEqual([bug]);
  await watching.close();
});
