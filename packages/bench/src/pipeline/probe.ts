/**
 * Follows single ratings: sends one, polls the store or the scorer from the moment of sending, and
 * finds out afterwards when the store or the scorer first knew of the rating.
 */
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { shardOf } from '@freshet/events';
import type { GeneratedRating } from '@freshet/experiments';
import { sourceName } from '@freshet/positions';
import type { Publisher } from '@freshet/stream';
import { RATINGS_TOPIC, recordOf } from './backlog.ts';
import type { BenchSystem } from './bench-system.ts';
import type { Arrivals } from './hop.ts';

const BETWEEN_PROBES_MS = 10;
const POLL_MS = 2;
const LOST_MS = 10_000;

interface ProbeOptions {
  readonly topicId: string;
  readonly arrivals: Arrivals;
  readonly publisher: Publisher;
}

interface Look {
  /** The last offset of the rating's own partition that is applied. */
  readonly applied: number;
  /** The offset to be applied next, in `user-ratings`. */
  readonly position: number;
}

export class Probe {
  readonly #agent = new Agent({ keepAlive: true });

  constructor(
    private readonly system: BenchSystem,
    private readonly options: ProbeOptions,
  ) {}

  /** Follows one rating after the other, in turns to the store and to the scorer. */
  async run(ratings: Iterable<GeneratedRating>, until: number) {
    /** All in ms, from sending: to the store, to an answer of the scorer, to a plain consumer. */
    const latencies = { committed: [] as number[], visible: [] as number[], hops: [] as number[] };
    let turn = 0;
    for (const rating of ratings) {
      if (performance.now() > until) break;
      const toStore = turn++ % 2 === 0;
      const milliseconds = await this.#follow(rating, toStore, latencies.hops);
      (toStore ? latencies.committed : latencies.visible).push(milliseconds);
      this.options.arrivals.clear();
      await pause(BETWEEN_PROBES_MS);
    }
    this.#agent.destroy();
    return latencies;
  }

  async #follow(rating: GeneratedRating, toStore: boolean, hops: number[]): Promise<number> {
    const { arrivals, publisher } = this.options;
    const record = recordOf(this.system, rating);
    let offset = Number.POSITIVE_INFINITY;
    const sentAt = performance.now();
    const sending = publisher.append(record).then((at) => {
      offset = at;
    });
    const looks: { look: Look; answered: number; at: number }[] = [];
    for (;;) {
      const looking = this.#stored(record.partition, rating.user);
      const answered = toStore ? 0 : await this.#answered(rating.user);
      looks.push({ look: await looking, answered, at: performance.now() });
      const committed = looks.find(({ look }) => look.applied >= offset);
      // An answer tells the position of its shard in `user-ratings`; visible is one at or after the
      // commit.
      const visible = looks.find((each) => committed && each.answered >= committed.look.position);
      const first = toStore ? committed : visible;
      const arrived = arrivals.get(`${record.partition}:${offset}`);
      if (first !== undefined && arrived !== undefined) {
        hops.push(arrived - sentAt);
        return first.at - sentAt;
      }
      if (performance.now() - sentAt > LOST_MS) throw new Error('a rating was never applied');
      if (offset === Number.POSITIVE_INFINITY) await Promise.race([sending, pause(POLL_MS)]);
      else await pause(POLL_MS);
    }
  }

  async #stored(partition: number, user: string): Promise<Look> {
    const { session, settings } = this.system;
    const id = { side: 'user', shard: shardOf(user, settings.SHARDS) } as const;
    const { position, facts } = await session.store.entity(id, user);
    const mark = facts.sources[sourceName(RATINGS_TOPIC, this.options.topicId, partition)];
    return { applied: mark?.offset ?? -1, position: position ?? 0 };
  }

  /** Does without fetch, whose cost would be taken from the services on the same machine. */
  #get(port: number, path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, agent: this.#agent };
      get(options, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          body += part;
        });
        response.on('end', () => resolve(body)).on('error', reject);
      }).on('error', reject);
    });
  }

  async #answered(user: string): Promise<number> {
    const { SCORER_PORT } = this.system.settings;
    const path = `/v1/recommendations/${encodeURIComponent(user)}?n=10`;
    const answer: { model: { position: number | null } } = JSON.parse(
      await this.#get(SCORER_PORT, path),
    );
    return answer.model.position ?? 0;
  }
}
