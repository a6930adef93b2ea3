/** `freshet audit`: is everything that the model holds consistent, in Redis and with Kafka? */
import { defaultModel } from '@freshet/model';
import {
  flag,
  numberOption,
  openBrokers,
  openStore,
  operatorCommand,
  requireTopics,
  textOr,
} from '../operator-command.ts';
import { ProgressLine } from '../progress-line.ts';
import { audit } from './audit.ts';
import { type Check, exitCodeOf } from './check.ts';

const HELP = `freshet audit [--deep] [--wait SECONDS] [--json] [--quiet]

Reads everything that the model holds and checks that it is consistent. It changes nothing, and it
may run while the services do: a shard that is written while it is read is read again.

  vectors    every vector has FACTOR_COUNT factors, and all of them are finite
  grams      the partial gram of each shard equals the sum over its vectors, to 1e-9
  total      the gram that the aggregator published equals the sum of the partial grams
  rows       ratings of users are in the right shard and within RATING_MAX, and the counts agree
             with them
  evidence   every item has evidence, in total of as many ratings as the users have
  tallies    user shards applied what intake sent, and item shards what user shards sent, each entry
             once
  offsets    every position lies within Kafka's log
  outboxes   the records that would be published again at a take-over can be decoded
  refold     with --deep: the evidence and the list of every item equal what item-ratings adds up
             to, to the bit
  lag        no record waits to be applied

  --deep           also check refold, which reads all of item-ratings. Shards are left out, and
                   named, if their log no longer begins at its beginning (USER_RATINGS_DAYS) or
                   factorize replaced their evidence
  --wait SECONDS   wait up to this long for lag to reach 0, and audit again up to then if
                   something is not settled [10]
  --json           print one JSON object instead of lines
  --quiet          print no progress on standard error

Exit code: 0 clean, 1 violation, 2 not settled (there is lag, or shards kept changing), 3 could not
be audited.
`;

const LONGEST_WAIT_SECONDS = 86_400;

export const auditCommand = operatorCommand({
  name: 'audit',
  help: HELP,
  options: { deep: flag, wait: textOr('10'), json: flag, quiet: flag },
  cannot: 3,
  run: async ({ values }, place) => {
    const waitSeconds = numberOption('wait', values.wait, { from: 0, to: LONGEST_WAIT_SECONDS });
    const { settings, model, log } = place;
    const brokers = await openBrokers(place);
    await requireTopics(brokers, model, ['userRatings', 'itemRatings', 'grams']);
    const line = new ProgressLine(values.quiet || values.json);
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
});

const verdicts = { 0: 'clean', 1: 'violation', 2: 'not settled' } as const;

function render(checks: readonly Check[], verdict: string): string {
  const lines = checks.flatMap(({ name, status, checked, problems }) => [
    `${status.padEnd(11)}  ${name.padEnd(8)}  ${checked}`,
    ...problems.map((problem) => `${' '.repeat(13)}${problem}`),
  ]);
  return `${lines.join('\n')}\n${verdict}\n`;
}
