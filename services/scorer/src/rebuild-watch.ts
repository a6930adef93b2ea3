/**
 * Has the store gone back? When it lost a shard, that is rebuilt from the log, and until it has come to where
 * it was, an answer would be one to a stranger. Looks at the positions of the user shards every second or
 * two, and knows which of them are behind what has been seen.
 */
import type { FactorStore } from '@freshet/store';
import type { Log } from '@freshet/telemetry';

export interface RebuildOptions {
  readonly store: Pick<FactorStore, 'facts'>;
  readonly partitions: number;
  readonly log: Pick<Log, 'debug'>;
}

interface Seen {
  /** The furthest that the shard has been. */
  readonly position: number;
  /** What a person has accepted to lose of its log: then it goes back for good. */
  readonly accepted: string | undefined;
}

const LOOK_MS = 1_500;

export class RebuildWatch {
  readonly #options: RebuildOptions;
  readonly #seen = new Map<number, Seen>();
  readonly #behind = new Set<number>();
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
    return this.#behind.size > 0 ? 'the store to be rebuilt from the log' : null;
  }

  async look(): Promise<void> {
    const { store, partitions } = this.#options;
    for (let shard = 0; shard < partitions; shard++) {
      const { position = '0', accepted } = await store.facts({ side: 'user', shard });
      const known = this.#seen.get(shard);
      const isBack = known !== undefined && Number(position) < known.position;
      if (isBack && (accepted === undefined || accepted === known.accepted)) {
        this.#behind.add(shard);
        continue;
      }
      this.#behind.delete(shard);
      this.#seen.set(shard, { position: Number(position), accepted });
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
