/**
 * Is the store being rebuilt? When it lost a shard, that is learnt again from `user-ratings`; after `freshet
 * rebuild` the sources are read again from their beginning. Until everything is where it was, an answer would
 * be one to a stranger. Looks every second or two, and knows who is behind what has been seen.
 */
import type { SourcePartition } from '@freshet/positions';
import type { FactorStore, ShardHead } from '@freshet/store';
import type { Log } from '@freshet/telemetry';

interface RebuildOptions {
  readonly store: Pick<FactorStore, 'head'>;
  readonly shards: number;
  /** As they were last looked at. */
  readonly sources: () => readonly SourcePartition[];
  /** Told of every shard that was looked at. */
  readonly told: (shard: number, head: ShardHead) => void;
  readonly log: Pick<Log, 'debug'>;
}

interface Seen {
  /** The furthest that the shard has been. */
  readonly position: number;
  /** When a person last accepted to lose some of its log: then it goes back for good. */
  readonly accepted: string | undefined;
}

const LOOK_MS = 1_500;

export class RebuildWatch {
  readonly #options: RebuildOptions;
  readonly #seen = new Map<number, Seen>();
  readonly #behind = new Set<number>();
  /** By partition of the sources: in which life it is read. */
  readonly #lives = new Map<string, number>();
  /** The same of those that are read again: where they ended when that began. */
  readonly #again = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RebuildOptions) {
    this.#options = options;
  }

  /** Looks again and again until closed; while the store is away, what was seen stands. */
  start(): void {
    const again = () => {
      this.look()
        .catch((error: unknown) => {
          this.#options.log.debug({ err: error }, 'positions of the user shards not known');
        })
        .finally(() => {
          if (this.#timer !== undefined) this.#timer = setTimeout(again, LOOK_MS).unref();
        });
    };
    this.#timer = setTimeout(again, 0);
  }

  waitingFor(): string | null {
    const isBack = this.#behind.size > 0 || this.#again.size > 0;
    return isBack ? 'the store to be rebuilt from the log' : null;
  }

  async look(): Promise<void> {
    const { store, shards, told } = this.#options;
    for (let shard = 0; shard < shards; shard++) {
      const head = await store.head({ side: 'user', shard });
      told(shard, head);
      this.#lookAtShard(shard, head);
    }
    this.#lookAtSources();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookAtShard(shard: number, head: ShardHead): void {
    const position = head.position ?? 0;
    const accepted = head.facts.accepted.at(-1)?.at;
    const known = this.#seen.get(shard);
    const isBack = known !== undefined && position < known.position;
    if (isBack && (accepted === undefined || accepted === known.accepted)) {
      this.#behind.add(shard);
      return;
    }
    this.#behind.delete(shard);
    this.#seen.set(shard, { position, accepted });
  }

  #lookAtSources(): void {
    const read = new Map<string, number>();
    for (const { topic, partition, mark, position, end } of this.#options.sources()) {
      // A partition that intake has never been in is new, or is about to be read again.
      if (position === null) continue;
      const name = `${topic}:${partition}`;
      const before = this.#lives.get(name);
      if (before !== undefined && mark.life > before) this.#again.set(name, end);
      this.#lives.set(name, mark.life);
      read.set(name, position);
    }
    for (const [name, goal] of this.#again) {
      const position = read.get(name);
      if (position === undefined || position >= goal) this.#again.delete(name);
    }
  }
}
