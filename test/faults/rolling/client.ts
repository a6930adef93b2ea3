/**
 * Asks again and again, as a load balancer does: if one scorer closes the connection or does not
 * listen, the other is asked.
 */
export class Client {
  /** How often each answer came: by its status if that is expected, else with what it said. */
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
