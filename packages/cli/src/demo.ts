/** `freshet demo`: the stream of `freshet up`, for a system that runs elsewhere, until it is told to stop. */
import { once } from 'node:events';
import type { Settings } from '@freshet/config';
import { Publisher } from '@freshet/stream';
import {
  CannotWork,
  openBrokers,
  operate,
  partitionsOf,
  requireTopics,
} from './operator-command.ts';
import { DEMO_TOPIC, Demo } from './up/demo.ts';

const HELP = `freshet demo [--rate N]

Streams ratings of a generated crowd to the topic ratings of a running system, and tells how the list of one of them,
Ada, follows what she likes. Ctrl-C ends it; started again, it goes on where the topic ends.

  --rate N     ratings per second (default 20)

KAFKA_BROKERS, SCORER_URL, HTTP_TOKEN and the other settings of docs/reference.md apply.
Exit code: 0 stopped, 1 could not.
`;

const RATE_LIMIT = 100_000;

export function demo(args: readonly string[]): Promise<number> {
  const options = { rate: { type: 'string', default: '20' } } as const;
  return operate(
    {
      name: 'demo',
      help: HELP,
      options,
      cannot: 1,
      run: async ({ values }, place) => {
        const ratingsPerSecond = rateOf(values.rate);
        const { settings, model, stack } = place;
        const brokers = await openBrokers(place);
        await requireTopics(brokers, model, ['items']);
        if (!settings.RATINGS_TOPICS.includes(DEMO_TOPIC)) {
          throw new CannotWork(
            `generated ratings go to the topic ${DEMO_TOPIC} alone, and RATINGS_TOPICS does not name it`,
          );
        }
        const stream = new Demo({
          publisher: stack.own(await Publisher.open(brokers.kafka)),
          admin: brokers.admin,
          model,
          partitions: await partitionsOf(brokers.admin, DEMO_TOPIC),
          scorerUrl: scorerUrl(settings),
          token: settings.HTTP_TOKEN,
          ratingsPerSecond,
          tell: (line) => void process.stdout.write(`${line}\n`),
        });
        stack.own(stream);
        const failed = new Promise<never>((_, reject) => stream.start(reject));
        await Promise.race([failed, once(process, 'SIGTERM'), once(process, 'SIGINT')]);
        return 0;
      },
    },
    args,
  );
}

function rateOf(text: string): number {
  const rate = Number(text);
  if (rate > 0 && rate <= RATE_LIMIT) return rate;
  throw new CannotWork(`--rate must be up to ${RATE_LIMIT}`);
}

function scorerUrl({ SCORER_URL: given, SCORER_PORT: port }: Settings): string {
  return given === '' ? `http://127.0.0.1:${port}` : given.replace(/\/+$/, '');
}
