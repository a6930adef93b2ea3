/** `freshet dead-letters list|replay`: the records that could not be applied, and a retry. */
import { poisonReasons, topicName } from '@freshet/events';
import { type Brokers, schemaRegistry } from '@freshet/session';
import { Publisher, readTopic } from '@freshet/stream';
import { helpRow } from '../help-row.ts';
import { NamedCounts } from '../named-counts.ts';
import {
  flag,
  numberOption,
  openBrokers,
  operatorCommand,
  type Place,
  partitionsOf,
  ratingReader,
  requireTopics,
  say,
  text,
  textOr,
  WrongUsage,
} from '../operator-command.ts';
import { type DeadLetter, deadLetterOf, replayOf, sortLetters } from './dead-letter.ts';

const HELP = `freshet dead-letters list|replay [options]

A record of RATINGS_TOPICS, items or recommendation-requests that can never be applied is parked on
the topic ratings-dead-letter, with the reason. list prints the parked records of this model. replay
sends those that came from RATINGS_TOPICS back to their topic, with their original key and bytes.
Use it when the reason has gone: RATING_FIELDS were corrected, RATING_MAX was raised, a schema was
added, or a time no longer lies in the future. A record that was too long to be parked whole is
listed as cut, and is not replayed.

${helpRow('--reason R', `only records that were parked for this reason: ${poisonReasons.join(', ')}`, 15)}
  --from OFFSET    only records at this offset of ratings-dead-letter or later
  --dry-run        replay: print what would be sent, and send nothing
  --json           list: print one JSON object per line

A replayed record carries the header freshet-replayed with the offset of its dead letter. If it is
parked again, it keeps that header, and list says so. A record without a time of its own takes the
time of its replay. Replayed records stay on ratings-dead-letter: to continue after them, use --from
with the offset that replay prints.

Exit code: 0 done, 1 could not be done.
`;

export const deadLetters = operatorCommand({
  name: 'dead-letters',
  help: HELP,
  options: { reason: text, from: textOr('0'), 'dry-run': flag, json: flag },
  takesArguments: true,
  cannot: 1,
  run: async ({ values, positionals }, place) => {
    const [action, ...others] = positionals;
    if ((action !== 'list' && action !== 'replay') || others.length > 0) {
      throw new WrongUsage('one argument is needed: list or replay');
    }
    const { reason } = values;
    if (reason !== undefined && !poisonReasons.some((known) => known === reason)) {
      throw new WrongUsage(`--reason must be one of ${poisonReasons.join(', ')}`);
    }
    const from = numberOption('from', values.from, { from: 0, isWhole: true });
    const brokers = await openBrokers(place);
    await requireTopics(brokers, place.model, ['ratingsDeadLetter']);
    const all = await readLetters(place, brokers, from);
    const letters = all.filter((letter) => reason === undefined || letter.reason === reason);
    if (action === 'list') list(letters, values.json);
    else await replay(letters, place, brokers, values['dry-run']);
    return 0;
  },
});

async function readLetters(
  { model, log }: Place,
  brokers: Brokers,
  from: number,
): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = [];
  await readTopic({
    ...brokers,
    log,
    model,
    topic: topicName('ratingsDeadLetter', model),
    from: new Map([[0, from]]),
    receive: (_, records) => {
      for (const record of records) {
        const letter = deadLetterOf(record, model);
        if (letter !== undefined) letters.push(letter);
      }
    },
  });
  return letters;
}

function list(letters: readonly DeadLetter[], json: boolean): void {
  for (const { record: _, ...letter } of letters) {
    if (json) {
      say(JSON.stringify(letter));
      continue;
    }
    const { offset, reason, topic, partition, sourceOffset, bytes, replayedFrom, cut } = letter;
    const whole = cut === undefined ? '' : ', cut';
    const again = replayedFrom === undefined ? '' : `  (replayed from ${replayedFrom})`;
    const source = `${topic}/${partition}@${sourceOffset}`;
    say(
      `${offset}  ${reason.padEnd(14)}  ${source}  ${bytes} bytes${whole}${again}  ${letter.preview}`,
    );
    say(`    ${letter.message}`);
  }
  if (json) return;
  const reasons = new NamedCounts();
  for (const { reason } of letters) reasons.add(reason);
  const count = letters.length;
  say(count === 0 ? 'no dead letters' : `${count} dead letters: ${reasons.listed()}`);
}

async function replay(
  letters: readonly DeadLetter[],
  { settings, stack, log }: Place,
  { kafka, admin }: Brokers,
  dryRun: boolean,
): Promise<void> {
  const { replayed, left } = sortLetters(letters, settings.RATINGS_TOPICS);
  const widths = new Map<string, number>();
  for (const topic of new Set(replayed.map((letter) => letter.topic))) {
    widths.set(topic, await partitionsOf(admin, topic));
  }
  const reader = ratingReader(settings);
  const registry = schemaRegistry(settings, settings.RATINGS_TOPICS, log);
  const schemas = await registry?.lookUp(reader.idsToLookUp(replayed.map(({ record }) => record)));
  const now = Date.now();
  const replays = replayed.map((letter) => {
    const partitions = widths.get(letter.topic) as number;
    const { record, stillBad } = replayOf(letter, { partitions, reader, schemas, now });
    const note = stillBad === undefined ? '' : `  will be parked again, ${stillBad}`;
    say(`${letter.offset} → ${record.topic}/${record.partition}${note}`);
    return { record, stillBad };
  });
  const bad = replays.filter(({ stillBad }) => stillBad !== undefined).length;
  if (!dryRun && replays.length > 0) {
    const publisher = stack.own(await Publisher.open(kafka));
    await publisher.publish(replays.map(({ record }) => record));
  }
  const verb = dryRun ? 'would be replayed' : 'replayed';
  say(`${replays.length} ${verb}, ${bad} of them only to be parked again`);
  for (const [reason, count] of left) say(`${count} not replayed: ${reason}`);
  const last = letters.at(-1);
  if (last !== undefined) say(`to continue after these: --from ${last.offset + 1}`);
}
