/** `freshet load`: made-up ratings and requests at a given rate, and how the system keeps up. */
import { Publisher } from '@freshet/stream';
import {
  CannotWork,
  flag,
  headsOf,
  numberOption,
  openBrokers,
  openStore,
  operatorCommand,
  partitionsOf,
  ratingsTopic,
  requireTopics,
  say,
  text,
  textOr,
} from '../operator-command.ts';
import { forgetCrowd } from './crowd.ts';
import { type LoadRequest, runLoad } from './run-load.ts';

const HELP = `freshet load [options]

Sends made-up ratings to a topic of RATINGS_TOPICS at a given rate, and shows every second how many
were sent, how many are not learnt yet, and how late they are learnt. Ratings are sent at scheduled
times, whether the system keeps up or not, and latency counts from the scheduled time until the
user's shard has learnt the rating (its position in the store is read every 10 ms). Ctrl-C ends the
load early, with the summary.

  --rate N         ratings per second (default 100)
  --duration S     seconds (default 60)
  --burst N        in the last second of every ten, N times the rate (default 1: no bursts)
  --users N        users who rate again and again (default 10000)
  --items N        items that are rated (default 1000)
  --skew S         how unequal users and items are: the one of rank r counts 1/r^S (default 1)
  --new-users P    share of the ratings that come from somebody new (default 0.02)
  --requests N     also ask for recommendations N times per second over HTTP (default 0)
  --topic NAME     the topic to send to, one of RATINGS_TOPICS; the first of them if absent
  --seed N         draws the same arrivals, users and items again (default 1)
  --json           print the summary as JSON
  --quiet          print no figures while it runs
  --yes            send the ratings although the model has ratings already
  --forget N       send no ratings: forget the users of earlier loads, load-u1 to load-uN

The ratings stay in the topic and in the model. Their ids tell them from real ones: load-u1, load-u2
and so on for users, load-i1 and so on for items. The summary says how to forget the users, which
takes their ratings back; the items stay known, with counts that decay to nothing. It is better to
use another MODEL, on a topic of its own.

Exit code: 0 everything was learnt and answered, 1 not everything was, or it could not run.
`;

/** The most users or items: a table of weights has 12 bytes for each. */
const MOST_IDS = 10_000_000;
const HIGHEST_RATE = 1_000_000;
const LONGEST_SECONDS = 7 * 24 * 3_600;

export const loadCommand = operatorCommand({
  name: 'load',
  help: HELP,
  options: {
    rate: textOr('100'),
    duration: textOr('60'),
    burst: textOr('1'),
    users: textOr('10000'),
    items: textOr('1000'),
    skew: textOr('1'),
    'new-users': textOr('0.02'),
    requests: textOr('0'),
    topic: text,
    seed: textOr('1'),
    json: flag,
    quiet: flag,
    yes: flag,
    forget: text,
  },
  cannot: 1,
  run: async ({ values }, place) => {
    const { settings, model, stack } = place;
    const topic = ratingsTopic(values.topic, settings);
    const request = requestOf(values);
    const forgotten = values.forget === undefined ? 0 : countOption('forget', values.forget);
    const brokers = await openBrokers(place);
    await requireTopics(brokers, model, ['userRatings']);
    const target = {
      topic,
      topicId: (await brokers.admin.topicId(topic)) ?? topic,
      partitions: await partitionsOf(brokers.admin, topic),
      publisher: stack.own(await Publisher.open(brokers.kafka)),
      admin: brokers.admin,
      store: await openStore(place),
    };
    if (forgotten > 0) {
      await forgetCrowd(forgotten, target);
      say(`the records that forget load-u1 to load-u${forgotten} are sent`);
      return 0;
    }
    const heads = await headsOf(target.store, settings.SHARDS);
    const ratings = heads.reduce((sum, { facts }) => sum + facts.ratings, 0);
    if (ratings > 0 && !values.yes) {
      throw new CannotWork(
        `the model ${model} has ${ratings} ratings, and made-up ones would change what it recommends: use another MODEL with a topic of its own, or say --yes`,
      );
    }
    return (await runLoad(request, target, place)) ? 0 : 1;
  },
});

type Numbered = 'rate' | 'duration' | 'burst' | 'users' | 'items' | 'skew' | 'new-users';
type Given = Readonly<Record<Numbered | 'requests' | 'seed', string>> & {
  readonly json: boolean;
  readonly quiet: boolean;
};

function requestOf(values: Given): LoadRequest {
  const number = (name: Numbered | 'requests', limits: { from: number; to: number }) =>
    numberOption(name, values[name], limits);
  const count = (name: Numbered) => countOption(name, values[name]);
  return {
    rate: number('rate', { from: 0.001, to: HIGHEST_RATE }),
    durationMs: 1_000 * number('duration', { from: 0.1, to: LONGEST_SECONDS }),
    burst: number('burst', { from: 1, to: 1_000 }),
    users: count('users'),
    items: count('items'),
    skew: number('skew', { from: 0, to: 5 }),
    newUsers: number('new-users', { from: 0, to: 1 }),
    requests: number('requests', { from: 0, to: HIGHEST_RATE }),
    seed: numberOption('seed', values.seed, { from: 0, isWhole: true }),
    json: values.json,
    quiet: values.quiet,
  };
}

function countOption(name: string, text: string): number {
  return numberOption(name, text, { from: 1, to: MOST_IDS, isWhole: true });
}
