/**
 * Every rating counts once on both sides, whichever process dies and whichever server loses data.
 * Each test runs random histories through the real intake, readers, stages, replicas and
 * aggregator. A second set of tests takes one guard away and expects a violation, which shows that
 * the guard is needed.
 */
import { describe, expect, it } from 'vitest';
import { anonymousCommits, type Guard, guards } from './simulation/guards.ts';
import { live, violations } from './simulation/history.ts';
import { wrongWith } from './simulation/oracle.ts';
import type { Sabotage } from './simulation/sabotage.ts';
import { shards } from './simulation/simulated-model.ts';
import { logLoss, lostAnswers, storeLoss, storm, type Weather } from './simulation/weather.ts';

/** SIMULATION_SEEDS=1000 makes a long soak of it. */
const SEEDS = Number(process.env.SIMULATION_SEEDS ?? 20);
/** A guard names the seed that shows it; after a change of the simulation another may do. */
const SEARCHED_SEEDS = 60;
const LIMIT_MS = 240_000;

const weathers: readonly [string, Weather][] = [
  ['processes die or are replaced, servers do not answer, the store goes back', storm],
  ['the store also loses everything, and logs their beginning', storeLoss],
  ['sources lose records or begin anew, and somebody accepts the loss', logLoss],
];

/** A seed whose history has violations with the sabotage and none without it. */
async function seedThatFails({ weather, sabotage, likelySeed = 0 }: Guard) {
  const seeds = new Set([likelySeed, ...Array(SEARCHED_SEEDS).keys()]);
  for (const seed of seeds) {
    if ((await violations(seed, weather, sabotage)).length === 0) continue;
    if ((await violations(seed, weather)).length === 0) return seed;
  }
  return undefined;
}

describe(`every rating counts once in ${SEEDS} random histories in which`, {
  timeout: LIMIT_MS,
}, () => {
  it.each(weathers)('%s', async (_, weather) => {
    for (let seed = 0; seed < SEEDS; seed++) {
      expect(await violations(seed, weather), `seed ${seed}`).toEqual([]);
    }
  });

  it('something that is lost is held until it is accepted', async () => {
    let accepted = 0;
    for (let seed = 0; seed < 10; seed++) {
      const options = { weather: logLoss };
      accepted += await live(seed, options, async ({ world }) => world.operator.accepted);
    }
    expect(accepted).toBeGreaterThan(5);
  });
});

describe('no guard can be spared:', { timeout: LIMIT_MS }, () => {
  it.each<[string, Guard]>([
    ['a commit by a fence that is not exactly the stored one', guards.exactFence],
    ['a commit at another position than the stored one', guards.position],
    ['publishing the stored outbox again at take-over', guards.outboxReplay],
    ['keeping in the outbox what Kafka has not acknowledged', guards.outboxKept],
    ['sending one batch of a source after the other', guards.intakeOrder],
    ['committing an offset only after the acknowledgement', guards.intakeAcknowledged],
    ['dropping what a user shard has already applied', guards.userMarks],
    ['dropping what an item shard has already applied', guards.itemMarks],
    ['the ordinal of a record within its fan-out', guards.ordinals],
    ['remembering how far a user is forgotten', guards.progress],
    ['passing batches that hold nothing but markers', guards.markers],
    ['asking for a load again until it has worked', guards.loadUntilDone],
    ['the version of a partial gram', guards.partVersions],
    ['looking whether the store still holds the shard', guards.storeCheck],
    ['looking whether the sources are to be read again', guards.rebuildCheck],
    ['asking for the log’s start before a hole is passed', guards.holes],
    ['telling a topic from one of the same name', guards.topicIds],
    ['a position that lies beyond the log’s end', guards.logEnd],
    ['dropping what was read from the sources before a rebuild', guards.userLives],
    ['dropping what was decided before the model began anew', guards.itemLives],
    ['the life of what a user shard sends', guards.sentLives],
    ['refusing to rebuild from a log that is cut', guards.wholeRebuild],
  ])('%s', async (_, guard) => {
    expect(await seedThatFails(guard)).toBeDefined();
  });
});

describe('a commit whose answer is lost', { timeout: LIMIT_MS }, () => {
  /** How often shards were taken over after the first time. */
  const again = (seed: number, sabotage: Sabotage) =>
    live(seed, { weather: lostAnswers, sabotage }, async ({ world, memory }) => {
      expect(await wrongWith(world, memory), `seed ${seed}`).toEqual([]);
      return (await world.takeOvers()) - shards.length;
    });

  it('is recognised when it is sent again: nothing is taken over for it', async () => {
    for (let seed = 0; seed < 10; seed++) expect(await again(seed, {}), `seed ${seed}`).toBe(0);
  });

  it('would cost a take-over, but no rating, without its id', async () => {
    expect(await again(0, anonymousCommits)).toBeGreaterThan(0);
  });
});
