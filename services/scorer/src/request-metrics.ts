/** How long do requests take, and how long are their answers? By kind and outcome, of one transport. */
import { metrics } from '@freshet/telemetry';

export type RequestKind = 'recommend' | 'insight' | 'rate' | 'other';
export type Outcome = 'ok' | 'refused' | 'failed';
type Transport = 'http' | 'kafka';

type Observer = Readonly<Record<Outcome, { observe(seconds: number): void }>>;

export class RequestMetrics {
  /** Made once: to find a series by its labels costs as much as to observe it. */
  readonly #durations: Readonly<Record<RequestKind, Observer>>;
  readonly #bytes: { observe(bytes: number): void };

  constructor(transport: Transport) {
    const of = (kind: RequestKind): Observer => ({
      ok: metrics.requestDuration.labels({ transport, kind, outcome: 'ok' }),
      refused: metrics.requestDuration.labels({ transport, kind, outcome: 'refused' }),
      failed: metrics.requestDuration.labels({ transport, kind, outcome: 'failed' }),
    });
    this.#durations = {
      recommend: of('recommend'),
      insight: of('insight'),
      rate: of('rate'),
      other: of('other'),
    };
    this.#bytes = metrics.answerBytes.labels({ transport });
  }

  /** `since` as performance.now() has it; `bytes` of an answer that was given. */
  observe(kind: RequestKind, outcome: Outcome, since: number, bytes?: number): void {
    this.#durations[kind][outcome].observe((performance.now() - since) / 1_000);
    if (bytes !== undefined) this.#bytes.observe(bytes);
  }
}
