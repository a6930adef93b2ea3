/** `freshet rebuild`: forget everything learnt, and learn it again from the sources. */
import { sides, topicName } from '@freshet/events';
import { readSources } from '@freshet/positions';
import { agreementOf } from '@freshet/session';
import type { FactorStore, ShardHead } from '@freshet/store';
import { Publisher } from '@freshet/stream';
import { CannotWork, openBrokers, openStore, operate, requireTopics } from '../operator-command.ts';
import { claimEpoch } from './claim-epoch.ts';
import { planRebuild, type RebuildPlan } from './rebuild-plan.ts';

const HELP = `freshet rebuild [--yes] [--from-part]

Empties the store of this model and lets intake read every topic of RATINGS_TOPICS from its beginning. For a
store that was lost or is wrong, and for settings that cannot change otherwise (FACTOR_COUNT, LOSS,
RATING_MAX). SHARDS cannot change: choose another MODEL.

Without --yes it tells what it would do and changes nothing. Running services go on: they notice within
seconds, answers wait until what was known is known again, and what is produced meanwhile counts too. If they
are stopped, they begin when they are started.

  --yes         do it
  --from-part   do it although the beginning of a source is deleted, or a source is empty or does not exist:
                what is not there is lost for good

Exit code: 0 the rebuild has begun; 1 nothing was changed.
`;

const options = {
  yes: { type: 'boolean', default: false },
  'from-part': { type: 'boolean', default: false },
} as const;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

export function rebuildCommand(args: readonly string[]): Promise<number> {
  return operate(
    {
      name: 'rebuild',
      help: HELP,
      options,
      cannot: 1,
      run: async ({ values, positionals }, place) => {
        if (positionals.length > 0) throw new CannotWork(`what is ${positionals[0]}?\n\n${HELP}`);
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
        const store = await openStore(place);
        const plan = planRebuild({
          topics,
          partitions: await readSources(brokers.admin, model, topics),
          heads: await headsOf(store, shards),
          birth: await store.birth(),
        });
        tellPlan(plan, model, topics);
        if (plan.missing.length > 0 && !values['from-part']) {
          throw new CannotWork(
            'nothing was changed: --from-part rebuilds from what is left, and what is not there is lost',
          );
        }
        if (!values.yes) {
          say('nothing was changed: --yes empties the store and begins');
          return 1;
        }
        const publisher = stack.own(await Publisher.open(brokers.kafka));
        const born = await claimEpoch(publisher, model, { key: 'rebuild', least: plan.highest });
        await store.rebuild(agreementOf(settings), born);
        say(`the store is empty, and the rebuild has begun (epoch ${born})`);
        say('freshet sources tells how far it is: it is done when every lag is 0');
        return 0;
      },
    },
    args,
  );
}

async function headsOf(store: Pick<FactorStore, 'head'>, shards: number): Promise<ShardHead[]> {
  const heads: ShardHead[] = [];
  for (const side of sides) {
    for (let shard = 0; shard < shards; shard++) heads.push(await store.head({ side, shard }));
  }
  return heads;
}

function tellPlan(plan: RebuildPlan, model: string, topics: readonly string[]): void {
  const { records, known, missing } = plan;
  say(`the store knows ${known} ratings of model "${model}": all of them go`);
  say(`${topics.join(', ')}: ${records} records, to be read from the beginning`);
  for (const each of missing) say(`missing  ${each}`);
}
