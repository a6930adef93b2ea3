/** `freshet demo`: the stream of `freshet up`, for a system that runs elsewhere. */
import { once } from 'node:events';
import { scorerAddress } from '@freshet/config';
import {
  CannotWork,
  openBrokers,
  operatorCommand,
  requireTopics,
  say,
  textOr,
} from './operator-command.ts';
import { DEMO_TOPIC, Demo, rateOption } from './up/demo.ts';

const HELP = `freshet demo [--rate N]

Streams generated ratings to the topic ${DEMO_TOPIC} of a running system, and prints how the
recommendations of one user, Ada, follow what she likes. Ctrl-C ends it. When it is started again,
it continues where the topic ends.

  --rate N     ratings per second (default 20)

It uses KAFKA_BROKERS, SCORER_URL, HTTP_TOKEN and the other settings of freshet reference.
Exit code: 0 stopped, 1 could not run.
`;

export const demo = operatorCommand({
  name: 'demo',
  help: HELP,
  options: { rate: textOr('20') },
  cannot: 1,
  run: async ({ values }, place) => {
    const ratingsPerSecond = rateOption(values.rate);
    const { settings, model, stack } = place;
    const scorer = scorerAddress(settings);
    const brokers = await openBrokers(place);
    await requireTopics(brokers, model, ['items']);
    if (!settings.RATINGS_TOPICS.includes(DEMO_TOPIC)) {
      throw new CannotWork(
        `the demo writes to the topic ${DEMO_TOPIC} only, and RATINGS_TOPICS does not name it: add it there`,
      );
    }
    const options = { scorer, ratingsPerSecond, tell: say };
    const stream = await Demo.open({ ...brokers, model }, stack, options);
    const failed = new Promise<never>((_, reject) => stream.start(reject));
    await Promise.race([failed, once(process, 'SIGTERM'), once(process, 'SIGINT')]);
    return 0;
  },
});
