/** `freshet audit`: is everything that the model holds consistent, in Redis and with Kafka? */
import { defaultModel } from '@freshet/model';
import { CannotWork, openBrokers, openStore, operate, requireTopics } from '../operator-command.ts';
import { ProgressLine } from '../progress-line.ts';
import { audit } from './audit.ts';
import { type Check, exitCodeOf } from './check.ts';

const HELP = `freshet audit [--deep] [--wait SECONDS] [--json] [--quiet]

Reads everything the model holds and checks that it fits together; changes nothing. May be run beside the
services: shards that move while they are read are read again.

  vectors    every factor is finite, and there are FACTOR_COUNT of them
  grams      each shard's partial gram, recomputed from its vectors, to 1e-9
  total      the sum that the aggregator published, against the partial grams
  rows       the ratings of users lie in their shard and scale; vectors and counts fit them
  evidence   every item has some, and all together of as many ratings as the users have
  tallies    what intake sent and user shards applied, what those sent and item shards applied: the same, once
  offsets    positions lie within Kafka's logs
  outboxes   what would be published again at a take-over is readable
  refold     with --deep: the evidence and the list of every item, added up from item-ratings again, to the last bit
  lag        nothing waits to be applied

  --deep           also refold; reads all of item-ratings. Says of which shards it cannot: their log no longer
                   reaches its beginning (USER_RATINGS_DAYS), or factorize has replaced their evidence
  --wait SECONDS   how long lag may take to go before the audit begins [10]
  --json           one JSON object instead of lines
  --quiet          no progress on standard error

Exit code: 0 clean, 1 violation, 2 not settled (lag, or shards that kept moving), 3 could not be audited.
`;

const options = {
  deep: { type: 'boolean', default: false },
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
        await requireTopics(brokers, model, ['userRatings', 'itemRatings', 'grams']);
        const line = new ProgressLine(process.stderr, values.quiet || values.json);
        const checks = await audit({
          ...brokers,
          store: await openStore(place),
          model,
          log,
          shards: settings.SHARDS,
          settings: { ...defaultModel, factorCount: settings.FACTOR_COUNT, loss: settings.LOSS },
          sources: settings.RATINGS_TOPICS,
          valueMax: settings.RATING_MAX,
          isDeep: values.deep,
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
