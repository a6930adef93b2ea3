/**
 * The life of one partition in this process, from the group's word that it is ours to its word that it
 * is not. One loop runs it; what happened becomes a signal, and the table below says what comes next.
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
  /** Records are fetched and applied. */
  | 'running'
  /** A server is away: tried again soon, and ever more slowly. */
  | 'waiting'
  /** The log has a fault that only a person can judge: looked at again now and then. */
  | 'held'
  /** Somebody else's, or nobody's. */
  | 'released';

export type Signal =
  /** The owner has named the offset to read from. */
  | 'ready'
  /** What is in memory is not what is stored, or the log went back: take over again. */
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
