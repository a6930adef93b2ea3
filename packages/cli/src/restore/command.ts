/** `freshet restore`: brings a model back from a snapshot, and lets the stream go on from there. */
import { setTimeout as pause } from 'node:timers/promises';
import { topicName } from '@freshet/events';
import { agreementOf } from '@freshet/session';
import { type FactorStore, SIGN_OF_LIFE_MS } from '@freshet/store';
import { Publisher, type TopicAdmin } from '@freshet/stream';
import {
  CannotWork,
  flag,
  headsOf,
  openAnyStore,
  openBrokers,
  operatorCommand,
  say,
  unfinished,
} from '../operator-command.ts';
import { ProgressLine } from '../progress-line.ts';
import { claimEpoch } from '../rebuild/rebuild-plan.ts';
import { fileOf } from '../snapshot/command.ts';
import { highestEpoch, obstacles } from './restore-checks.ts';
import { restoredShards } from './restored-shards.ts';
import { savedShards, verifySnapshot } from './saved-model.ts';

const HELP = `freshet restore FILE [--replace] [--quiet]

Brings this model back to the snapshot in FILE. Services that are started afterwards go on from its
positions: what was rated since is read from Kafka, and every rating counts once.

Stop all services of the model first; those that are started meanwhile wait. FILE is verified before
anything is written. It is refused if it is cut off, corrupt, no snapshot, or of a newer format; if
FACTOR_COUNT, LOSS, RATING_MAX or SHARDS differ; if user-ratings or item-ratings no longer hold what
follows its positions (USER_RATINGS_DAYS), or were created anew; and if freshet rebuild has run
since. If it is interrupted, services keep waiting: run it again.

  --replace   restore although the store holds this model: what it holds is deleted
  --quiet     print no progress on standard error

Exit code: 0 restored, 1 nothing was changed, or it was interrupted.
`;

const LOOK_AGAIN_MS = 250;

export const restoreCommand = operatorCommand({
  name: 'restore',
  help: HELP,
  options: { replace: flag, quiet: flag },
  takesArguments: true,
  cannot: 1,
  run: async ({ values, positionals }, place) => {
    const path = fileOf(positionals);
    const { settings, model, stack } = place;
    const line = new ProgressLine(values.quiet);
    const verified = await verifySnapshot(path, (share) => line.show(`verifying ${path}`, share));
    line.clear();
    const brokers = await openBrokers(place);
    await requireOwnTopics(brokers.admin, model);
    const store = await openAnyStore(place);
    await requireUnused(store, model, settings.SHARDS, values.replace);
    const found = await obstacles(verified, {
      admin: brokers.admin,
      model,
      manifest: agreementOf(settings).manifest,
      topics: settings.RATINGS_TOPICS,
      birth: await store.birth(),
    });
    for (const obstacle of found) say(obstacle);
    if (found.length > 0) throw refusal('the model cannot go on from this snapshot');
    const publisher = stack.own(await Publisher.open(brokers.kafka));
    const least = highestEpoch(verified.heads);
    const epoch = await claimEpoch(publisher, model, { key: 'restore', least });
    const shards = savedShards(path, (share) => line.show('restoring', share));
    await store
      .restoreModel(verified.about, restoredShards(verified, shards, epoch))
      .catch(unfinished('restore'));
    line.clear();
    const users = verified.heads.filter(({ id }) => id.side === 'user');
    const ratings = users.reduce((sum, { state }) => sum + state.facts.ratings, 0);
    say(`${ratings} ratings of model "${model}" restored, as of ${verified.about.taken}`);
    say('start the services: they read from Kafka what was rated since');
    return 0;
  },
});

/** What follows the snapshot is on topics of this model alone: new ones would be of no use. */
async function requireOwnTopics(admin: Pick<TopicAdmin, 'missing'>, model: string): Promise<void> {
  const needed = ['userRatings', 'itemRatings', 'claims'] as const;
  const missing = await admin.missing(needed.map((topic) => topicName(topic, model)));
  if (missing.length > 0) throw refusal(`this Kafka has no topic ${missing.join(', ')}`);
}

function refusal(reason: string): CannotWork {
  return new CannotWork(
    `nothing was changed: ${reason}. Restore with the Kafka, the MODEL and the settings that it was ` +
      'taken with, or use a later snapshot; or learn your topics again: freshet rebuild --yes, ' +
      'or just start the services if the store is empty',
  );
}

/** Services that run hold what the store held before, and would answer and publish from it. */
async function requireUnused(
  store: FactorStore,
  model: string,
  shards: number,
  replace: boolean,
): Promise<void> {
  const deadline = Date.now() + SIGN_OF_LIFE_MS + LOOK_AGAIN_MS;
  for (;;) {
    const { members, isRestoring } = await store.occupation();
    if (members === 0 && (isRestoring || replace)) return;
    if (members === 0) break;
    if (Date.now() > deadline) {
      const reason = isRestoring
        ? `another freshet restore of model "${model}" is running; wait until it has ended`
        : `${members} services of model "${model}" are running; stop them first`;
      throw new CannotWork(`nothing was changed: ${reason}`);
    }
    await pause(LOOK_AGAIN_MS);
  }
  const heads = await headsOf(store, shards);
  if (heads.every(({ position }) => position === null)) return;
  throw new CannotWork(
    `nothing was changed: the store holds ratings of model "${model}"; --replace deletes them`,
  );
}
