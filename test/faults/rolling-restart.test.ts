/**
 * Services are restarted one after the other while ratings and requests come, as an upgrade does:
 * an aggregator, two updaters, two scorers. Clients see nothing but answers and "try again".
 */
import { type Child, freePort, untilReady } from '@freshet/local';
import { eventually, RatingStream, System } from '@freshet/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';

type Service = 'aggregator' | 'updater' | 'scorer';

/** One process of a service, on ports of its own that it keeps over restarts. */
interface Instance {
  readonly service: Service;
  readonly settings: Readonly<Record<string, string>>;
  readonly adminPort: number;
  readonly url: string;
  child: Child;
}

let system: System;
let stream: RatingStream;
const instances: Instance[] = [];

beforeAll(async () => {
  system = await System.open({ KAFKA_SESSION_MS: '6000' });
  for (const service of ['aggregator', 'updater', 'updater', 'scorer', 'scorer'] as const) {
    const [adminPort, port] = [await freePort(), await freePort()];
    const admin = `${service.toUpperCase()}_ADMIN_PORT`;
    const settings = { [admin]: String(adminPort), SCORER_PORT: String(port) };
    const child = system.launchAnother(service, settings);
    instances.push({ service, settings, adminPort, url: `http://127.0.0.1:${port}`, child });
  }
  await Promise.all(instances.map(({ child, adminPort }) => untilReady(child, adminPort)));
  stream = await RatingStream.open(system);
}, 240_000);

afterAll(async () => {
  await stream?.close();
  await system?.close();
});

/**
 * Asks again and again, as a load balancer does: if one scorer closes the connection or does not
 * listen, the other is asked.
 */
class Client {
  readonly answers = new Map<string, number>();
  #stopped = false;
  readonly #asking: Promise<void>;

  constructor(readonly urls: readonly string[]) {
    this.#asking = this.#ask();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#asking;
  }

  async #ask(): Promise<void> {
    for (let nth = 0; !this.#stopped; nth++) {
      const answer = await this.#balanced(`/v1/recommendations/u${nth % 60}?n=5`);
      this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async #balanced(path: string): Promise<string> {
    for (const url of this.urls) {
      const response = await fetch(url + path).catch(() => undefined);
      if (response === undefined) continue;
      const text = await response.text();
      const retry = response.headers.get('retry-after');
      const isExpected = response.status === 200 || (response.status === 503 && retry !== null);
      return isExpected ? String(response.status) : `${response.status} ${retry}: ${text}`;
    }
    return 'nobody answered';
  }
}

it('loses nothing, and answers 200 or 503 with Retry-After', async () => {
  await stream.produce(500);
  await system.settled();
  const scorers = instances.filter(({ service }) => service === 'scorer');
  const urls = scorers.map(({ url }) => url);
  const clients = [new Client(urls), new Client(urls.toReversed())];
  await stream.during(async () => {
    for (const instance of instances) {
      await instance.child.stop();
      expect(await instance.child.exited, instance.service).toBe(0);
      instance.child = system.launchAnother(instance.service, instance.settings);
      await untilReady(instance.child, instance.adminPort);
    }
  });
  await Promise.all(clients.map((client) => client.stop()));
  for (const { answers } of clients) {
    expect(answers.get('200')).toBeGreaterThan(0);
    expect([...answers.keys()].filter((answer) => answer !== '200' && answer !== '503')).toEqual(
      [],
    );
  }
  expect(await stream.violations(system)).toEqual([]);
  const audit = await system.freshet(['audit']);
  expect(audit, audit.out).toMatchObject({ code: 0 });
  await eventually('the lag to be 0 for the scorers', async () => {
    const behind = await Promise.all(
      scorers.map(({ adminPort }) => system.metricAt(adminPort, 'freshet_lag_ratings_all')),
    );
    return behind.every((ratings) => ratings === 0);
  });
}, 240_000);
