/** `freshet dead-letters list|replay`: what could not be applied, and another try at it. */
import { poisonReasons, topicName } from '@freshet/events';
import type { Brokers } from '@freshet/session';
import { Publisher, readTopic } from '@freshet/stream';
import {
  CannotWork,
  openBrokers,
  operate,
  type Place,
  partitionsOf,
  ratingReader,
  requireTopics,
} from '../operator-command.ts';
import { type DeadLetter, deadLetterOf, replayOf, sortLetters } from './dead-letter.ts';

const HELP = `freshet dead-letters list|replay [options]

Records of RATINGS_TOPICS, items and recommendation-requests that can never be applied are parked on
ratings-dead-letter with the reason. list shows those of this model. replay sends those of RATINGS_TOPICS to
the topic they came from, original key and bytes, for when the reason has gone: RATING_FIELDS were corrected,
RATING_MAX was raised, a schema was added, a time is no longer ahead. A record too long to be parked whole is
listed as cut, and not replayed.

  --reason R       only those parked for this reason: ${poisonReasons.join(', ')}
  --from OFFSET    only those at this offset of the dead-letter topic or later
  --dry-run        replay: tell what would be sent, and send nothing
  --json           list: one JSON object per line

Replayed records carry the header freshet-replayed with the offset of their dead letter; one that is parked
again keeps it, and list says so. A record without a time of its own takes that of its replay. What was
replayed stays on the dead-letter topic: go on with --from at the offset that replay tells.

Exit code: 0 done, 1 could not be done.
`;

const options = {
  reason: { type: 'string' },
  from: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

export function deadLetters(args: readonly string[]): Promise<number> {
  return operate(
    {
      name: 'dead-letters',
      help: HELP,
      options,
      cannot: 1,
      run: async ({ values, positionals }, place) => {
        const [action, ...others] = positionals;
        if ((action !== 'list' && action !== 'replay') || others.length > 0) {
          throw new CannotWork(`list or replay?\n\n${HELP}`);
        }
        const selection = selectionOf(values.reason, values.from);
        const brokers = await openBrokers(place);
        await requireTopics(brokers, place.model, ['ratingsDeadLetter']);
        const letters = await readLetters(place, brokers, selection);
        if (action === 'list') list(letters, values.json);
        else await replay(letters, place, brokers, values['dry-run']);
        return 0;
      },
    },
    args,
  );
}

interface Selection {
  readonly reason: string | undefined;
  readonly from: number;
}

function selectionOf(reason: string | undefined, from = '0'): Selection {
  if (reason !== undefined && !poisonReasons.some((known) => known === reason)) {
    throw new CannotWork(`--reason must be one of ${poisonReasons.join(', ')}`);
  }
  if (!/^\d+$/.test(from)) throw new CannotWork('--from must be an offset');
  return { reason, from: Number(from) };
}

async function readLetters(
  { model, log }: Place,
  { kafka, admin }: Brokers,
  { reason, from }: Selection,
): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = [];
  await readTopic({
    kafka,
    admin,
    log,
    model,
    topic: topicName('ratingsDeadLetter', model),
    from: new Map([[0, from]]),
    receive: (_, records) => {
      for (const record of records) {
        const letter = deadLetterOf(record, model);
        if (letter && (reason === undefined || letter.reason === reason)) letters.push(letter);
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
  const byReason = new Map<string, number>();
  for (const { reason } of letters) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
  const counts = [...byReason].map(([reason, count]) => `${count} ${reason}`).join(', ');
  say(letters.length === 0 ? 'no dead letters' : `${letters.length} dead letters: ${counts}`);
}

async function replay(
  letters: readonly DeadLetter[],
  { settings, stack }: Place,
  { kafka, admin }: Brokers,
  dryRun: boolean,
): Promise<void> {
  const { replayed, left } = sortLetters(letters, settings.RATINGS_TOPICS);
  const widths = new Map<string, number>();
  for (const topic of new Set(replayed.map((letter) => letter.topic))) {
    widths.set(topic, await partitionsOf(admin, topic));
  }
  const target = { reader: ratingReader(settings), now: Date.now() };
  const replays = replayed.map((letter) => {
    const { record, stillBad } = replayOf(letter, {
      ...target,
      partitions: widths.get(letter.topic) ?? 0,
    });
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
  if (last !== undefined) say(`later ones: --from ${last.offset + 1}`);
}
