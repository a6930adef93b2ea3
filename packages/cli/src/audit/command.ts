/** `freshet audit`: is everything that the model holds consistent, in Redis and with Kafka? */
import { ProgressLine } from '../evaluate/progress-line.ts';
import {
  CannotWork,
  openBrokers,
  openStore,
  operate,
  ratingLimits,
  requireTopics,
} from '../operator-command.ts';
import { audit } from './audit.ts';
import { type Check, exitCodeOf } from './check.ts';

const HELP = `freshet audit [--wait SECONDS] [--json] [--quiet]

Reads everything the model holds and checks that it fits together; changes nothing. May be run beside the
services: shards that move while they are read are read again.

  vectors    every factor is finite, and there are FACTOR_COUNT of them
  grams      each shard's partial gram, recomputed from its vectors, to 1e-9
  total      the sum that the aggregator published, against the partial grams
  rows       ratings lie in their shard and scale; vectors and counts fit them
  sides      the rows of users and of items hold the same ratings, as far as both have come
  offsets    positions lie within Kafka's logs
  outboxes   what would be published again at a take-over is readable
  lag        nothing waits to be applied

  --wait SECONDS   how long lag may take to go before the audit begins [10]
  --json           one JSON object instead of lines
  --quiet          no progress on standard error

Exit code: 0 clean, 1 violation, 2 not settled (lag, or shards that kept moving), 3 could not be audited.
`;

const options = {
  wait: { type: 'string', default: '10' },
  json: { type: 'boolean', default: false },
  quiet: { type: 'boolean', default: false },
} as const;

export function auditCommand(args: readonly string[]): Promise<number> {
  return operate(
    {
      name: 'audit',
      help: HELP,
      options,
      cannot: 3,
      run: async ({ values }, place) => {
        const waitSeconds = Number(values.wait);
        if (!(waitSeconds >= 0 && waitSeconds <= 86_400)) {
          throw new CannotWork('--wait must be from 0 to 86400 seconds');
        }
        const { settings, model, log } = place;
        const brokers = await openBrokers(place);
        await requireTopics(brokers, model, ['ratings', 'itemRatings', 'grams']);
        const line = new ProgressLine(process.stderr, values.quiet || values.json);
        const checks = await audit({
          ...brokers,
          store: await openStore(place),
          model,
          log,
          partitions: settings.PARTITIONS,
          factorCount: settings.FACTOR_COUNT,
          limits: ratingLimits(settings),
          waitMs: 1_000 * waitSeconds,
          onProgress: (what, share) => line.show(what, share),
        });
        line.clear();
        const code = exitCodeOf(checks);
        const verdict = verdicts[code];
        process.stdout.write(
          values.json ? `${JSON.stringify({ model, verdict, checks })}\n` : render(checks, verdict),
        );
        return code;
      },
    },
    args,
  );
}

const verdicts = { 0: 'clean', 1: 'violation', 2: 'not settled' } as const;

function render(checks: readonly Check[], verdict: string): string {
  const lines = checks.flatMap(({ name, status, checked, problems }) => [
    `${status.padEnd(11)}  ${name.padEnd(8)}  ${checked}`,
    ...problems.map((problem) => `${' '.repeat(13)}${problem}`),
  ]);
  return `${lines.join('\n')}\n${verdict}\n`;
}
