/**
 * Has the next stage applied everything that a stage sent, each entry once? Both keep a tally,
 * equal when nothing is in flight: for each partition of a source over all user shards, and for
 * each user shard and item shard. Users must have as many ratings as items have evidence of.
 */
import { shardOf } from '@freshet/events';
import { Evidence, type ModelSettings } from '@freshet/model';
import { type SourcePartition, sourceName } from '@freshet/positions';
import { isSame, NO_TALLY, plus, type Tally } from '@freshet/store';
import { type Check, Findings } from './check.ts';
import { isStill, nameOf } from './shard-checks.ts';
import type { ShardReading } from './shard-reading.ts';

export interface Flow {
  readonly users: readonly ShardReading[];
  readonly items: readonly ShardReading[];
  readonly sources: readonly SourcePartition[];
  /** Whether nothing was in flight, and no shard was written from the first read to the last. */
  readonly isAtRest: boolean;
}

export function checkTallies({ users, items, sources, isAtRest }: Flow): Check {
  const findings = new Findings();
  let compared = 0;
  const compare = (what: string, sent: Tally, applied: Tally): void => {
    compared++;
    if (isSame(sent, applied)) return;
    const counts = `${sent.count} sent, ${applied.count} applied`;
    const problem = `${what}: ${counts}${sent.count === applied.count ? ', not the same' : ''}`;
    if (isAtRest) findings.violation(problem);
    else findings.unsettled(problem);
  };
  const isWhole = users.every((user) => !hasLost(user));
  for (const { topic, partition, mark } of isWhole ? sources : []) {
    const applied = appliedOf(users, sourceName(topic, mark.topicId, partition), mark.life);
    compare(`${topic}/${partition} to the user shards`, mark.sent, applied);
  }
  const pairs = users.flatMap((user) => items.map((item) => ({ user, item })));
  for (const { user, item } of pairs) {
    if (hasLost(item)) continue;
    const { life, sent } = user.state.facts;
    const applied = appliedOf([item], String(user.id.shard), life ?? 0);
    const what = `${nameOf(user.id)} to ${nameOf(item.id)}`;
    compare(what, sent[item.id.shard] ?? NO_TALLY, applied);
  }
  const left = sources.length + pairs.length - compared;
  const aside =
    left > 0 ? `; ${left} not compared, because losses were accepted (freshet sources)` : '';
  return findings.check('tallies', `${compared} tallies of what was sent and applied${aside}`);
}

export function checkEvidence(
  { users, items, isAtRest }: Flow,
  shards: number,
  settings: ModelSettings,
): Check {
  const findings = new Findings();
  let count = 0;
  for (const reading of items) {
    if (!isStill(reading, findings)) continue;
    const { id, vectors, bodies } = reading;
    for (const item of vectors.keys()) {
      const where = `${nameOf(id)}, item ${JSON.stringify(item)}`;
      if (shardOf(item, shards) !== id.shard) findings.violation(`${where}: not its shard`);
      const own = countIn(bodies.get(item), settings);
      if (own === undefined) findings.violation(`${where}: its evidence is not readable`);
      else if (own === 0) findings.violation(`${where}: a vector without evidence`);
      count += own ?? 0;
    }
  }
  const ratings = users.reduce((sum, { state }) => sum + state.facts.ratings, 0);
  const isWhole = items.every((item) => !hasLost(item) && item.still);
  if (isWhole && count !== ratings) {
    const problem = `items have evidence of ${count} ratings, users have ${ratings}`;
    if (isAtRest) findings.violation(problem);
    else findings.unsettled(problem);
  }
  return findings.check('evidence', `items have evidence of ${count} ratings`);
}

/** The tally of what the shards have applied of a source in one of its lives. */
function appliedOf(shards: readonly ShardReading[], source: string, life: number): Tally {
  return shards
    .map(({ state }) => state.facts.sources[source])
    .filter((mark) => mark?.life === life)
    .reduce((sum, mark) => plus(sum, mark?.applied ?? NO_TALLY), NO_TALLY);
}

/** Whether a loss of its log was accepted: then its tally never equals that of the sender again. */
function hasLost({ state }: ShardReading): boolean {
  return state.facts.accepted.length > 0;
}

function countIn(body: Uint8Array | undefined, settings: ModelSettings): number | undefined {
  if (body === undefined) return 0;
  try {
    return Evidence.fromBytes(body, settings).count;
  } catch {
    return undefined;
  }
}
