/** `freshet sources`: does the log still hold what comes next, and what to do where it does not. */
import { Publisher } from '@freshet/stream';
import {
  CannotWork,
  openBrokers,
  openStore,
  operate,
  type Place,
  requireTopics,
} from '../operator-command.ts';
import { acceptSource, isAcceptable } from './accept-source.ts';
import { reportSources, type SourceState } from './source-report.ts';

const HELP = `freshet sources [--accept] [--topic NAME] [--partition N] [--json]

Lists every partition that this model learns from: those of RATINGS_TOPICS, which intake reads, then
user-ratings and item-ratings, one partition a shard. Of each: where its reader stands, what the log holds,
how many records wait, and whether that fits. A partition that does not fit is held by its updater, which
waits; the others go on.

  ok           the log holds what comes next
  absent       there is no such topic; its intake waits until somebody creates it
  cut          records were deleted before they were read
  recreated    the topic was deleted and created anew
  store-lost   the store lost the shard, and the log no longer begins at its beginning: freshet rebuild
  unreadable   a batch cannot be decoded: its codec is unknown, or its bytes are corrupt
  claims       the claims topic was created anew: writers can no longer be told apart

  --accept         accept what is lost and go on behind it; the updater does so within seconds. What was
                   accepted is kept, and listed from then on
  --topic NAME     only partitions of this topic
  --partition N    only this partition
  --json           one JSON object per partition

To lose nothing, restore the topic or the store from a copy instead of accepting.

Exit code: 0 everything fits, or was accepted; 1 something does not fit; 3 could not be looked at.
`;

const options = {
  accept: { type: 'boolean', default: false },
  topic: { type: 'string' },
  partition: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

export function sourcesCommand(args: readonly string[]): Promise<number> {
  return operate(
    {
      name: 'sources',
      help: HELP,
      options,
      cannot: 3,
      run: async ({ values }, place) => {
        const { accept, topic, partition, json } = values;
        if (partition !== undefined && !/^\d+$/.test(partition)) {
          throw new CannotWork('--partition must be a number');
        }
        const isWanted = (source: SourceState) =>
          (topic === undefined || source.topic === topic) &&
          (partition === undefined || source.partition === Number(partition));
        const found = await lookOrAccept(place, isWanted, accept);
        for (const source of found) say(json ? JSON.stringify(source) : lineOf(source));
        const wrong = found.filter(({ state }) => state !== 'ok');
        const held = accept ? wrong.filter((source) => !isAcceptable(source)) : wrong;
        if (!json) for (const { fault } of wrong) if (fault !== undefined) say(`\n${fault}`);
        if (!json) say(verdictOf(held.length, wrong.length - held.length));
        return held.length === 0 ? 0 : 1;
      },
    },
    args,
  );
}

async function lookOrAccept(
  place: Place,
  isWanted: (source: SourceState) => boolean,
  accept: boolean,
): Promise<SourceState[]> {
  const { settings, model, stack } = place;
  const brokers = await openBrokers(place);
  await requireTopics(brokers, model, ['userRatings', 'itemRatings', 'claims']);
  const store = await openStore(place);
  const { SHARDS: shards, RATINGS_TOPICS: topics, FACTOR_COUNT: factorCount } = settings;
  const all = await reportSources({ ...brokers, store, model, shards, topics });
  const found = all.filter(isWanted);
  const lost = found.filter(isAcceptable);
  if (!accept || lost.length === 0) return found;
  const publisher = stack.own(await Publisher.open(brokers.kafka));
  const accepting = { store, publisher, model, factorCount, now: () => new Date() };
  for (const source of lost) await acceptSource(accepting, source);
  return found;
}

function lineOf(source: SourceState): string {
  const { reader, topic, partition, state, position, start, end, lag, next, accepted } = source;
  const place = `${topic}/${partition}`.padEnd(28);
  if (state === 'absent') return `${state.padEnd(11)}  ${place}`;
  const log = `log ${start}–${end}`.padEnd(20);
  const at = `${reader} at ${position ?? 'nothing'}`.padEnd(18);
  const wrong = state === 'ok' ? `  lag ${lag}` : `  would go on at ${next}`;
  const before = accepted.map(({ at: when, kind, from, next: to }) => {
    return `  accepted ${when}: ${kind}, ${from ?? 'nothing'} to ${to}`;
  });
  return `${state.padEnd(11)}  ${place}  ${at}  ${log}${wrong}${before.join('')}`;
}

function verdictOf(held: number, accepted: number): string {
  const many = (count: number) => (count === 1 ? '1 partition' : `${count} partitions`);
  if (held + accepted === 0) return '\nevery log holds what comes next';
  return [
    ...(accepted > 0 ? [`\naccepted for ${many(accepted)}`] : []),
    ...(held > 0 ? [`\n${many(held)} held: restore the log, or --accept the loss`] : []),
  ].join('');
}
