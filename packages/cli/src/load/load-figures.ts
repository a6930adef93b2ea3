/** What is counted of ratings, or of requests, while a load runs: in all, and lately. */
import { Latencies } from './latencies.ts';

export class LoadFigures {
  readonly latencies = new Latencies();
  sent = 0;
  errors = 0;
  #recent = new Latencies();
  #sentBefore = 0;

  /** One more was done; `ms` from the time for which it was scheduled. */
  done(ms: number): void {
    this.latencies.add(ms);
    this.#recent.add(ms);
  }

  /** The figures since the last call. */
  recent(): { readonly sent: number; readonly latencies: Latencies } {
    const latencies = this.#recent;
    const sent = this.sent - this.#sentBefore;
    this.#recent = new Latencies();
    this.#sentBefore = this.sent;
    return { sent, latencies };
  }
}
