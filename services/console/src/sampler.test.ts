import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Frame, type SeriesName, seriesNames } from './live/frame.ts';
import { Sampler } from './sampler.ts';
import { Target } from './target.ts';

type Answer = 'well' | 'waiting' | 'unmeasured' | 'never';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A stand-in for the admin port of a service. */
async function service(answers: { now: Answer }, page: () => string): Promise<string> {
  const server = createServer((request, response) => {
    if (answers.now === 'never') return;
    if (request.url === '/metrics') {
      if (answers.now !== 'unmeasured') response.end(page());
      return;
    }
    const isWaiting = answers.now === 'waiting';
    response.writeHead(isWaiting ? 503 : 200).end(isWaiting ? 'the grams\n' : 'ready\n');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const nothing = { all: () => [], fresh: () => [] };

const nobodyRates = async () => ({ produced: 0, taken: 0 });

async function watching(service: string, address: string, lookAtLog = nobodyRates) {
  const frames: Frame[] = [];
  const clock = { now: 1_000_000 };
  const sampler = new Sampler({
    targets: [new Target({ service, address })],
    lookAtLog,
    letters: nothing,
    viewers: () => 0,
    deliver: (frame) => frames.push(frame),
    fail: (error) => {
      throw error;
    },
    now: () => clock.now,
  });
  const look = async (): Promise<Frame> => {
    clock.now += 1_000;
    await sampler.look();
    const frame = frames.at(-1);
    if (frame === undefined) throw new Error('no frame');
    return frame;
  };
  return { look, sampler, clock };
}

const value = (frame: Frame, name: SeriesName) => frame.values[seriesNames.indexOf(name)];

describe('the sampler', () => {
  it('turns two looks into rates, and tells health as the service does', async () => {
    let applied = 0;
    const answers: { now: Answer } = { now: 'waiting' };
    const address = await service(answers, () => {
      applied += 40;
      return `freshet_ratings_applied_total{side="user"} ${applied}\nprocess_start_time_seconds 7\nfreshet_build_info{service="updater",version="0.1.0",node="v20"} 1`;
    });
    const { look } = await watching('updater', address);
    const first = await look();
    expect(value(first, 'userRate')).toBeNull();
    expect(first.services[0]).toMatchObject({ waitingFor: 'the grams', downSince: null });
    answers.now = 'well';
    const second = await look();
    expect(value(second, 'userRate')).toBe(40);
    expect(second.services[0]).toMatchObject({
      waitingFor: null,
      startedAt: 7_000,
      version: '0.1.0',
    });
  });

  it('tells since when a service does not answer, and nothing of what it said before', async () => {
    const answers: { now: Answer } = { now: 'well' };
    const address = await service(answers, () => 'freshet_known_ratings 5');
    const { look } = await watching('aggregator', address);
    expect(value(await look(), 'ratings')).toBe(5);
    answers.now = 'never';
    const down = await look();
    expect(value(down, 'ratings')).toBeNull();
    expect(down.services[0]?.downSince).toBe(1_002_000);
    expect((await look()).services[0]?.downSince).toBe(1_002_000);
    answers.now = 'well';
    expect((await look()).services[0]?.downSince).toBeNull();
  });

  it('does not call a service down that only cannot measure', async () => {
    const answers: { now: Answer } = { now: 'unmeasured' };
    const address = await service(answers, () => '');
    const { look } = await watching('aggregator', address);
    const frame = await look();
    expect(frame.services[0]).toMatchObject({ downSince: null, memoryBytes: null });
    expect(value(frame, 'ratings')).toBeNull();
  });

  it('goes on while Kafka cannot say how much was produced', async () => {
    let produced = 0;
    const kafka = async () => {
      if (produced === 10) throw new Error('no leader');
      return { produced, taken: produced - 1 };
    };
    const { look } = await watching('scorer', '127.0.0.1:1', kafka);
    await look();
    produced = 5;
    const frame = await look();
    expect([value(frame, 'producedRate'), value(frame, 'takenRate')]).toEqual([5, 5]);
    produced = 10;
    expect(value(await look(), 'producedRate')).toBeNull();
  });

  it('looks every second while somebody does, and every five otherwise', async () => {
    vi.useFakeTimers();
    try {
      let [frames, viewers] = [0, 0];
      const sampler = new Sampler({
        targets: [],
        lookAtLog: nobodyRates,
        letters: nothing,
        viewers: () => viewers,
        deliver: () => frames++,
        fail: (error) => {
          throw error;
        },
      });
      const seen = async (seconds: number): Promise<number> => {
        const before = frames;
        await vi.advanceTimersByTimeAsync(seconds * 1_000);
        return frames - before;
      };
      sampler.start();
      await seen(1);
      expect(await seen(20)).toBe(4);
      viewers = 1;
      sampler.hurry();
      await seen(1);
      expect(await seen(20)).toBe(20);
      viewers = 0;
      await seen(1);
      expect(await seen(20)).toBe(4);
      await sampler.close();
      expect(await seen(20)).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('has the history ready for whoever comes, with the service that is down', async () => {
    const { look, sampler } = await watching('scorer', '127.0.0.1:1');
    for (let nth = 0; nth < 3; nth++) await look();
    const { samples, services } = sampler.history();
    expect(samples.map(({ at }) => at)).toEqual([1_001_000, 1_002_000, 1_003_000]);
    expect(services[0]).toMatchObject({ service: 'scorer', downSince: 1_001_000 });
  });
});
