/**
 * Does a Kafka consumer still live? It shows a sign with every fetch and heartbeat. After a broker was
 * killed, single ones have been seen silent for minutes although the broker was back.
 */

/** How long a consumer may be silent, with the reason. */
const limits = {
  fetchingMs: 8_000, // fetches come every 100 ms
  joiningMs: 90_000, // joining waits for the others of the group, up to its rebalance timeout
  slowAnswerMs: 1_000, // an answer that took longer is one that Kafka gave when it came back
} as const;

export class ConsumerPulse {
  readonly #now: () => number;
  #lastSign: number;
  #isFetching = false;
  /** Since when Kafka has answered every question; undefined while it does not. */
  #answersSince: number | undefined;

  constructor(now: () => number = () => Date.now()) {
    this.#now = now;
    this.#lastSign = now();
  }

  /** The consumer did something: it fetches, or it waits for a place in its group. */
  sign(doing: 'fetching' | 'joining'): void {
    this.#lastSign = this.#now();
    this.#isFetching = doing === 'fetching';
  }

  /** This process stood still: a consumer could not show a sign either. */
  slept(): void {
    this.#lastSign = this.#now();
  }

  /** Kafka did not answer a question. */
  kafkaAway(): void {
    this.#answersSince = undefined;
  }

  /** Kafka answered a question that was asked at `asked`. */
  kafkaAnswered(asked: number): void {
    const now = this.#now();
    const isSlow = now - asked > limits.slowAnswerMs;
    this.#answersSince = isSlow ? now : (this.#answersSince ?? now);
  }

  /** For how long it has been silent although Kafka answered; undefined while that is no reason to worry. */
  get hangingMs(): number | undefined {
    if (this.#answersSince === undefined) return undefined;
    const silentMs = this.#now() - Math.max(this.#lastSign, this.#answersSince);
    const limitMs = this.#isFetching ? limits.fetchingMs : limits.joiningMs;
    return silentMs > limitMs ? silentMs : undefined;
  }
}
