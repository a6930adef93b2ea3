/** `freshet sources`: does each log still hold the next record, and what can be done if not? */
import { Publisher } from '@freshet/stream';
import {
  flag,
  numberOption,
  openBrokers,
  openStore,
  operatorCommand,
  type Place,
  requireTopics,
  say,
  text,
} from '../operator-command.ts';
import { acceptSource, isAcceptable } from './accept-source.ts';
import { reportSources, type SourceState } from './source-report.ts';

const HELP = `freshet sources [--accept] [--topic NAME] [--partition N] [--json]

Lists every partition that this model learns from: those of RATINGS_TOPICS, which intake reads, then
those of user-ratings and item-ratings, one for each shard. For each it prints the position of its
reader, the offsets that the log holds, the lag, and a state. In any state but ok the updater holds
the partition and waits; the other partitions go on.

  ok           the log holds the next record
  absent       the topic does not exist; intake waits until it is created
  cut          records were deleted before they were read
  recreated    the topic was deleted and created again
  store-lost   the store lost the shard, and the log no longer begins at offset 0: run freshet
               rebuild
  unreadable   a batch cannot be decoded, because its codec is unknown or its bytes are corrupt
  claims       the topic claims was deleted and created again, so that an old writer cannot be told
               from a new one

  --accept         accept the loss and continue after it; updaters do so within seconds. Each
                   accepted loss is kept, and printed from then on
  --topic NAME     only partitions of this topic
  --partition N    only this partition
  --json           print one JSON object per partition

To lose nothing, restore the topic or the store from a backup instead of accepting.

Exit code: 0 every partition is ok or accepted, 1 some are not, 3 could not be looked at.
`;

export const sourcesCommand = operatorCommand({
  name: 'sources',
  help: HELP,
  options: { accept: flag, topic: text, partition: text, json: flag },
  cannot: 3,
  run: async ({ values }, place) => {
    const { accept, topic, partition, json } = values;
    const number =
      partition === undefined
        ? undefined
        : numberOption('partition', partition, { from: 0, isWhole: true });
    const isWanted = (source: SourceState) =>
      (topic === undefined || source.topic === topic) &&
      (number === undefined || source.partition === number);
    const found = await lookOrAccept(place, isWanted, accept);
    for (const source of found) say(json ? JSON.stringify(source) : lineOf(source));
    const wrong = found.filter(({ state }) => state !== 'ok');
    const held = accept ? wrong.filter((source) => !isAcceptable(source)) : wrong;
    if (!json) for (const { fault } of wrong) if (fault !== undefined) say(`\n${fault}`);
    if (!json) say(verdictOf(held.length, wrong.length - held.length));
    return held.length === 0 ? 0 : 1;
  },
});

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
