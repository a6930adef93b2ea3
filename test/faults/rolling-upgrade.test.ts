/**
 * Services of an earlier version are replaced by those of this one, one after the other, while
 * ratings and requests come; in between both versions run side by side, and one goes back.
 */
import { RatingStream, System } from '@freshet/testkit';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { buildOf, hasCommit } from './rolling/earlier-build.ts';
import { Fleet } from './rolling/fleet.ts';

/**
 * The last version without snapshots, traces and schema registries; its format is that of this
 * version. While it stops, its scorer answers 503 without Retry-After, so it is drained first.
 * After a change of the format there is nothing to test until the commit moves past it.
 */
const EARLIER = 'b53c93a2eedae81add79ea10476b0c328245d043';
const isHere = hasCommit(EARLIER);
if (!isHere) {
  process.stderr.write(`  rolling-upgrade skipped: this clone does not have commit ${EARLIER}\n`);
}

describe.skipIf(!isHere)('an upgrade of one service after the other', () => {
  let system: System;
  let stream: RatingStream;
  let fleet: Fleet;
  let earlier: string;

  beforeAll(async () => {
    earlier = await buildOf(EARLIER);
    system = await System.open({ KAFKA_SESSION_MS: '6000' });
    fleet = await Fleet.start(system, earlier);
    stream = await RatingStream.open(system);
  });

  afterAll(async () => {
    await stream?.close();
    await system?.close();
  });

  const [AGGREGATOR, UPDATER, OTHER_UPDATER, SCORER, OTHER_SCORER] = [0, 1, 2, 3, 4];

  it('loses nothing while both versions run, and answers 200 or 503 with Retry-After', async () => {
    await stream.produce(500);
    await system.settled();
    await fleet.under(stream, async () => {
      await fleet.drainAndReplace(SCORER);
      await fleet.replace(UPDATER);
    });
  });

  it('loses nothing if one service goes back and all are upgraded after that', async () => {
    await fleet.under(stream, async () => {
      await fleet.replace(UPDATER, earlier);
      for (const nth of [AGGREGATOR, UPDATER, OTHER_UPDATER]) await fleet.replace(nth);
      await fleet.drainAndReplace(OTHER_SCORER);
    });
  });
});
