/**
 * The store has lost everything and is being rebuilt: until it has come to where it was, answers would be
 * those to strangers. Knows when that is: when every user shard has applied what was there to be applied.
 */
import { topicName } from '@freshet/events';
import type { FactorStore } from '@freshet/store';
import type { TopicAdmin } from '@freshet/stream';
import { type Log, untilAnswered } from '@freshet/telemetry';

export interface RebuildOptions {
  readonly store: Pick<FactorStore, 'facts'>;
  readonly admin: Pick<TopicAdmin, 'ends'>;
  readonly model: string;
  readonly log: Log;
}

const LOOK_MS = 500;

export class RebuildWatch {
  readonly #options: RebuildOptions;
  #running = 0;
  #closed = false;

  constructor(options: RebuildOptions) {
    this.#options = options;
  }

  waitingFor(): string | null {
    return this.#running > 0 ? 'the store to be rebuilt from the log' : null;
  }

  /** The store was found empty just now. */
  begin(): void {
    this.#running++;
    this.#untilRebuilt()
      .catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'it is not known whether the store is rebuilt');
      })
      .finally(() => {
        this.#running--;
      });
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  async #untilRebuilt(): Promise<void> {
    const { store, admin, model, log } = this.#options;
    const attempts = { log, what: 'rebuild not watched' };
    const goals = await untilAnswered(() => admin.ends(topicName('ratings', model)), attempts);
    for (const [shard, goal] of goals) {
      const reached = async (): Promise<boolean> => {
        const { position } = await store.facts({ side: 'user', shard });
        return Number(position ?? 0) >= goal;
      };
      while (!this.#closed && !(await untilAnswered(reached, attempts))) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    }
  }
}
