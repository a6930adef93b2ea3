/** Waits for a source topic that does not exist yet; `/readyz` and the log name it. */
import type { TopicAdmin } from '@freshet/stream';
import { type Log, untilAnswered } from '@freshet/telemetry';

interface AwaitedOptions {
  readonly topic: string;
  readonly admin: Pick<TopicAdmin, 'exists'>;
  readonly log: Pick<Log, 'warn'>;
}

const LOOK_MS = 1_000;

export class AwaitedTopic {
  #isThere = false;
  #isClosed = false;

  constructor(private readonly options: AwaitedOptions) {}

  get waitingFor(): string | null {
    return this.#isThere ? null : `the topic ${this.options.topic}, which does not exist`;
  }

  async whenThere(begin: () => Promise<void>): Promise<void> {
    const { topic, admin, log } = this.options;
    const look = () => admin.exists(topic);
    for (let looks = 0; !this.#isClosed; looks++) {
      if (
        await untilAnswered(look, { log, what: `whether the topic ${topic} exists is not known` })
      ) {
        this.#isThere = true;
        return begin();
      }
      if (looks === 0) {
        log.warn({ topic }, 'the topic does not exist: create it, or correct RATINGS_TOPICS');
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }
}
