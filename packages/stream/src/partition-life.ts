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

/** What follows each signal but `revoked`, which always releases the partition. */
function on(ready: Phase, refused: Phase, trouble: Phase, fault: Phase, due: Phase) {
  return { ready, refused, trouble, fault, due, revoked: 'released' } as const;
}

/** Complete: a new phase or signal does not compile until every cell is answered. */
export const next: Readonly<Record<Phase, Readonly<Record<Signal, Phase>>>> = {
  //          ready · refused · trouble · fault · due
  taking: on('running', 'taking', 'waiting', 'held', 'taking'),
  running: on('running', 'taking', 'waiting', 'held', 'running'),
  waiting: on('waiting', 'waiting', 'waiting', 'held', 'taking'),
  held: on('held', 'held', 'held', 'held', 'taking'),
  released: on('released', 'released', 'released', 'released', 'released'),
};
