/** `freshet rebuild`: deletes everything learnt, and learns it again from the sources. */
import { topicName } from '@freshet/events';
import { readSources } from '@freshet/positions';
import { agreementOf } from '@freshet/session';
import { Publisher } from '@freshet/stream';
import {
  CannotWork,
  flag,
  headsOf,
  openAnyStore,
  openBrokers,
  operatorCommand,
  requireTopics,
  say,
  unfinished,
} from '../operator-command.ts';
import { claimEpoch, planRebuild } from './rebuild-plan.ts';

const HELP = `freshet rebuild [--yes] [--from-part]

Empties the store of this model and makes intake read every topic of RATINGS_TOPICS from its
beginning. Use it when the store was lost or is wrong, or to change FACTOR_COUNT, LOSS or
RATING_MAX, which a model keeps otherwise. SHARDS cannot be changed: choose another MODEL for that.

Without --yes it prints what it would do and changes nothing. Running services notice within
seconds, and need no restart: ratings that are produced meanwhile count, and the API answers 503
until users are back where they were. Services that are stopped begin when they are started. If it
is interrupted, updaters keep waiting: run it again.

  --yes         empty the store and begin
  --from-part   rebuild although a source is empty, does not exist or has lost its beginning: the
                ratings that are missing there are lost for good

Exit code: 0 the rebuild has begun, 1 nothing was changed, or it was interrupted.
`;

export const rebuildCommand = operatorCommand({
  name: 'rebuild',
  help: HELP,
  options: { yes: flag, 'from-part': flag },
  cannot: 1,
  run: async ({ values }, place) => {
    const { settings, model, stack } = place;
    const { SHARDS: shards, RATINGS_TOPICS: topics } = settings;
    const brokers = await openBrokers(place);
    await requireTopics(brokers, model, ['userRatings', 'claims']);
    const width = (await brokers.admin.ends(topicName('userRatings', model))).size;
    if (width !== shards) {
      throw new CannotWork(
        `model "${model}" has ${width} shards and SHARDS is ${shards}: set SHARDS=${width}, or choose another MODEL`,
      );
    }
    const store = await openAnyStore(place);
    const plan = planRebuild({
      topics,
      partitions: await readSources(brokers.admin, model, topics),
      heads: await headsOf(store, shards),
      birth: await store.birth(),
    });
    const { records, known, missing } = plan;
    say(`the store holds ${known} ratings of model "${model}": all of them will be deleted`);
    say(`${topics.join(', ')}: ${records} records, to be read from the beginning`);
    for (const each of missing) say(`missing  ${each}`);
    if (missing.length > 0 && !values['from-part']) {
      throw new CannotWork(
        'nothing was changed: --from-part rebuilds from what is left, and the rest is lost for good',
      );
    }
    if (!values.yes) {
      say('nothing was changed: --yes empties the store and begins');
      return 1;
    }
    const publisher = stack.own(await Publisher.open(brokers.kafka));
    const born = await claimEpoch(publisher, model, { key: 'rebuild', least: plan.highest });
    await store.rebuild(agreementOf(settings), born).catch(unfinished('rebuild'));
    say(`the store is empty, and the rebuild has begun (epoch ${born})`);
    say('freshet sources shows the progress: the rebuild is done when every lag is 0');
    return 0;
  },
});
