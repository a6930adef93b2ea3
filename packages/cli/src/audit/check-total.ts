/** Is the gram that the aggregator published the sum of the partial grams of the shards? */
import { float64s, type GramsEvent, sides } from '@freshet/events';
import { type Check, Findings } from './check.ts';
import { addInto, gramOf, packedLength, relativeError } from './packed-gram.ts';
import { GRAM_TOLERANCE, nameOf } from './shard-checks.ts';
import type { ShardReading } from './shard-reading.ts';

/** Why the published sum is not of the states of the shards that were read; empty if it is. */
export function apart(readings: readonly ShardReading[], grams: GramsEvent): string[] {
  return readings.flatMap(({ id, state }) => {
    const { epoch, sequence } = state.facts;
    const part = grams.parts.find(({ side, shard }) => side === id.side && shard === id.shard);
    if (part === undefined) {
      return state.sums === null ? [] : [`${nameOf(id)} is not in the published sum`];
    }
    // A take-over publishes the part again with the new epoch and the old sequence.
    const isSame = part.sequence === sequence && [epoch, state.fence].includes(part.epoch);
    const version = `${part.epoch}.${part.sequence}`;
    return isSame
      ? []
      : [`${nameOf(id)} is at ${epoch}.${sequence}, the published sum has ${version}`];
  });
}

export function checkTotal(
  readings: readonly ShardReading[],
  grams: GramsEvent | undefined,
  k: number,
): Check {
  const findings = new Findings();
  const name = 'total';
  if (grams === undefined) {
    const isEmpty = readings.every(({ state }) => state.sums === null);
    if (!isEmpty)
      findings.unsettled('nothing is published on grams: check that the aggregator is running');
    return findings.check(name, 'no published sum');
  }
  for (const reason of apart(readings, grams)) findings.unsettled(reason);
  const checked = `the published sum of ${grams.parts.length} parts`;
  const early = findings.check(name, checked);
  if (early.status !== 'ok') return early;
  let worst = 0;
  for (const side of sides) {
    const expected = new Float64Array(packedLength(k));
    for (const { id, state } of readings) {
      const gram = gramOf(state, k);
      if (id.side === side && gram !== undefined) addInto(expected, gram);
    }
    const error = relativeError(float64s(grams[side]), expected);
    worst = Math.max(worst, error);
    if (!(error <= GRAM_TOLERANCE)) {
      findings.violation(`the sum of the ${side} grams is off by ${error.toExponential(1)}`);
    }
  }
  const ratings = readings
    .filter(({ id }) => id.side === 'user')
    .reduce((sum, { state }) => sum + state.facts.ratings, 0);
  if (grams.ratings !== ratings) {
    findings.violation(`published |R| is ${grams.ratings}, the user shards count ${ratings}`);
  }
  return findings.check(
    name,
    `${checked}, largest error ${worst.toExponential(1)}, ${ratings} ratings`,
  );
}
