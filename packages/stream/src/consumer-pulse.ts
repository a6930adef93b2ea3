/**
 * Is a Kafka consumer still alive? Every fetch and heartbeat is a sign of life. After a broker was
 * killed, some consumers of kafkajs have hung for minutes although the broker was back.
 */

/** How long a consumer may show no sign of life, with the reason. */
const limits = {
  fetchingMs: 8_000, // fetches come every 100 ms
  joiningMs: 90_000, // joining waits for the other members, up to the rebalance timeout of 60 s
  slowAnswerMs: 1_000, // an answer that took longer came when Kafka was back after a break
} as const;

export class ConsumerPulse {
  #lastSign: number;
  #isFetching = false;
  /** Since when Kafka has answered every request; undefined while it does not. */
  #answersSince: number | undefined;

  constructor(private readonly now: () => number = () => Date.now()) {
    this.#lastSign = now();
  }

  /** The consumer showed a sign of life: it fetches, or it waits to join its group. */
  sign(doing: 'fetching' | 'joining'): void {
    this.#lastSign = this.now();
    this.#isFetching = doing === 'fetching';
  }

  /** This process was suspended, so the consumer could show no sign of life either. */
  slept(): void {
    this.#lastSign = this.now();
  }

  kafkaAway(): void {
    this.#answersSince = undefined;
  }

  /** Kafka answered a request that was sent at `asked`. */
  kafkaAnswered(asked: number): void {
    const now = this.now();
    const isSlow = now - asked > limits.slowAnswerMs;
    this.#answersSince = isSlow ? now : (this.#answersSince ?? now);
  }

  /** How long the consumer is silent although Kafka answers; undefined below the limit. */
  get hangingMs(): number | undefined {
    if (this.#answersSince === undefined) return undefined;
    const silentMs = this.now() - Math.max(this.#lastSign, this.#answersSince);
    const limitMs = this.#isFetching ? limits.fetchingMs : limits.joiningMs;
    return silentMs > limitMs ? silentMs : undefined;
  }
}
