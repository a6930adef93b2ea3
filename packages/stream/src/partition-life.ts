/**
 * The life of one partition in this process, from its assignment by the group to its revocation.
 * One loop runs it: each event becomes a signal, and the table below gives the next phase.
 *
 *                    ┌──────── refused ────────┐
 *                    ▼                         │
 *   assigned ──► taking ─────── ready ──────► running
 *                 ▲  │ ▲                       │   │
 *                 │  │ └─ due ── waiting ◄─────┤   │        any of them ── revoked ──► released
 *                 │  └── trouble ──► ▲    trouble  │
 *                 └───── due ─────  held ◄─────── fault
 */
export type Phase =
  /** The owner prepares: claims, loads, names the offset to read from. */
  | 'taking'
  /** Records are fetched and consumed. */
  | 'running'
  /** A server is away: the take-over is retried, with exponential backoff. */
  | 'waiting'
  /** The log has a fault that only a person can mend: checked again every 2 s. */
  | 'held'
  /** The partition is no longer assigned to this process. */
  | 'released';

export type Signal =
  /** The owner has named the offset to read from. */
  | 'ready'
  /** What is in memory is not what is stored, or the log begins anew: take over again. */
  | 'refused'
  | 'trouble'
  | 'fault'
  /** The wait is over. */
  | 'due'
  | 'revoked';

/** No Partial: a new phase or signal does not compile until every cell is answered. */
export const next: Readonly<Record<Phase, Readonly<Record<Signal, Phase>>>> = {
  taking: {
    ready: 'running',
    refused: 'taking',
    trouble: 'waiting',
    fault: 'held',
    due: 'taking',
    revoked: 'released',
  },
  running: {
    ready: 'running',
    refused: 'taking',
    trouble: 'waiting',
    fault: 'held',
    due: 'running',
    revoked: 'released',
  },
  waiting: {
    ready: 'waiting',
    refused: 'waiting',
    trouble: 'waiting',
    fault: 'held',
    due: 'taking',
    revoked: 'released',
  },
  held: {
    ready: 'held',
    refused: 'held',
    trouble: 'held',
    fault: 'held',
    due: 'taking',
    revoked: 'released',
  },
  released: {
    ready: 'released',
    refused: 'released',
    trouble: 'released',
    fault: 'released',
    due: 'released',
    revoked: 'released',
  },
};
