interface Backend {
  readonly url: string;
  readonly adminPort: number;
}

/**
 * Asks again and again as a load balancer does, on connections that it keeps: the first scorer that
 * says that it is ready. A request is never sent twice, so one that is refused or cut off is seen.
 */
export class Client {
  /** How often each answer came: by its status if that is expected, else with what it said. */
  readonly answers = new Map<string, number>();
  readonly #left = new Set<string>();
  #answer: Promise<string> | undefined;
  #stopped = false;
  readonly #asking: Promise<void>;

  constructor(readonly scorers: readonly Backend[]) {
    this.#asking = this.#ask();
  }

  /** Sends a scorer nothing more; returns when nothing is on its way to it. */
  async leave(url: string): Promise<void> {
    this.#left.add(url);
    await this.#answer;
  }

  join(url: string): void {
    this.#left.delete(url);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#asking;
  }

  async #ask(): Promise<void> {
    for (let nth = 0; !this.#stopped; nth++) {
      this.#answer = this.#balanced(`/v1/recommendations/u${nth % 60}?n=5`);
      const answer = await this.#answer;
      this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async #balanced(path: string): Promise<string> {
    for (const { url, adminPort } of this.scorers) {
      if (this.#left.has(url)) continue;
      const ready = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined);
      await ready?.text();
      if (!ready?.ok) continue;
      const response = await fetch(url + path).catch((error: Error) => error);
      if (response instanceof Error) return `${response.message}: ${String(response.cause)}`;
      const text = await response.text();
      const retry = response.headers.get('retry-after');
      const isExpected = response.status === 200 || (response.status === 503 && retry !== null);
      return isExpected ? String(response.status) : `${response.status} ${retry}: ${text}`;
    }
    return 'nobody is ready';
  }
}
