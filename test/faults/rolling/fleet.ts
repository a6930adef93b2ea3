/** An aggregator, two updaters and two scorers, which are replaced one by one under load. */
import { type Child, freePort, untilReady } from '@freshet/local';
import { eventually, type RatingStream, type System } from '@freshet/testkit';
import { expect } from 'vitest';
import { Client } from './client.ts';

/** One process of a service, on ports of its own that the next process keeps. */
interface Instance {
  readonly service: 'aggregator' | 'updater' | 'scorer';
  readonly settings: Readonly<Record<string, string>>;
  readonly adminPort: number;
  readonly url: string;
  child: Child;
}

/** The folder of a build; undefined: this one. */
type Build = string | undefined;

const services = ['aggregator', 'updater', 'updater', 'scorer', 'scorer'] as const;

export class Fleet {
  #clients: readonly Client[] = [];

  private constructor(
    readonly system: System,
    readonly instances: readonly Instance[],
  ) {}

  static async start(system: System, build?: Build): Promise<Fleet> {
    const instances: Instance[] = [];
    for (const service of services) {
      const [adminPort, port] = [await freePort(), await freePort()];
      const admin = `${service.toUpperCase()}_ADMIN_PORT`;
      const settings = { [admin]: String(adminPort), SCORER_PORT: String(port) };
      const child = system.launchAnother(service, settings, build);
      instances.push({ service, settings, adminPort, url: `http://127.0.0.1:${port}`, child });
    }
    await Promise.all(instances.map(({ child, adminPort }) => untilReady(child, adminPort)));
    return new Fleet(system, instances);
  }

  async replace(nth: number, build?: Build): Promise<void> {
    const instance = this.instances[nth] as Instance;
    await instance.child.stop();
    expect(await instance.child.exited, instance.service).toBe(0);
    instance.child = this.system.launchAnother(instance.service, instance.settings, build);
    await untilReady(instance.child, instance.adminPort);
  }

  /** The same with a load balancer that sends nothing to a service before it is stopped. */
  async drainAndReplace(nth: number): Promise<void> {
    const { url } = this.instances[nth] as Instance;
    await Promise.all(this.#clients.map((client) => client.leave(url)));
    await this.replace(nth);
    for (const client of this.#clients) client.join(url);
  }

  /**
   * While ratings and requests come, does something to the fleet. Clients must see nothing but
   * answers and "try again", every rating counts once, and in the end nothing is behind.
   */
  async under(stream: RatingStream, work: () => Promise<void>): Promise<void> {
    const scorers = this.instances.filter(({ service }) => service === 'scorer');
    this.#clients = [new Client(scorers), new Client(scorers.toReversed())];
    await stream.during(work);
    await Promise.all(this.#clients.map((client) => client.stop()));
    for (const { answers } of this.#clients) {
      expect(answers.get('200')).toBeGreaterThan(0);
      const others = [...answers.keys()].filter((answer) => !['200', '503'].includes(answer));
      expect(others).toEqual([]);
    }
    expect(await stream.violations(this.system)).toEqual([]);
    const audit = await this.system.freshet(['audit']);
    expect(audit, audit.out).toMatchObject({ code: 0 });
    await eventually('the lag to be 0 for the scorers', async () => {
      const behind = await Promise.all(
        scorers.map(({ adminPort }) => this.system.metricAt(adminPort, 'freshet_lag_ratings_all')),
      );
      return behind.every((ratings) => ratings === 0);
    });
  }
}
