/**
 * Detects that the store is being rebuilt. A shard that the store lost is learnt again from
 * `user-ratings`; after `freshet rebuild` the sources are read again from their beginning. Until
 * the positions are back where they were, known users would be answered as unknown ones. The
 * positions are compared every 1.5 s with the highest ones seen.
 */
import type { SourcePartition } from '@freshet/positions';
import type { FactorStore, ShardHead } from '@freshet/store';
import type { Log } from '@freshet/telemetry';

interface RebuildOptions {
  readonly store: Pick<FactorStore, 'head'>;
  readonly shards: number;
  /** The partitions of the sources, as last read. */
  readonly sources: () => readonly SourcePartition[];
  /** Called with the head of every shard that was read. */
  readonly onHead: (shard: number, head: ShardHead) => void;
  readonly log: Pick<Log, 'debug'>;
}

interface Seen {
  /** The highest position of the shard so far. */
  readonly position: number;
  /** When a person last accepted a loss: then a lower position is not a rebuild. */
  readonly accepted: string | undefined;
}

const LOOK_MS = 1_500;

export class RebuildWatch {
  readonly #options: RebuildOptions;
  readonly #seen = new Map<number, Seen>();
  readonly #behind = new Set<number>();
  /** By source partition: the life in which intake reads it. */
  readonly #lives = new Map<string, number>();
  /** By source partition that is read again: its end offset when that began. */
  readonly #again = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RebuildOptions) {
    this.#options = options;
  }

  /** Looks every 1.5 s until closed. While the store is down, the last result stays. */
  start(): void {
    const again = () => {
      this.look()
        .catch((error: unknown) => {
          this.#options.log.debug(
            { err: error },
            'the positions of the user shards were not read: trying again',
          );
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
    const { store, shards, onHead } = this.#options;
    for (let shard = 0; shard < shards; shard++) {
      const head = await store.head({ side: 'user', shard });
      onHead(shard, head);
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
      // Without a committed offset the partition is new, or is about to be read again.
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
