/** `freshet intake try FILE|TOPIC`: what the settings make of real records, before anything is learnt. */
import { createReadStream, existsSync } from 'node:fs';
import { childEnvironment, readSettings, type Settings } from '@freshet/config';
import { RatingReader, ratingRules } from '@freshet/events';
import { CannotWork, openBrokers, operate, type Place } from '../operator-command.ts';
import { fileLines } from './file-lines.ts';
import { topicRecords } from './topic-records.ts';
import { jsonOf, lineOf, type TriedRecord, TriedTally, tryRecord } from './tried-record.ts';

const DEFAULT_COUNT = 20;
const COUNT_LIMIT = 10_000; // of each partition so many are held at once

const HELP = `freshet intake try FILE|TOPIC [options]

Shows what the settings make of real records: the user, item, value and time of each, or why it would be
parked. Nothing is learnt, written or created. FILE has one JSON record a line; - is standard input. What is
no file is a topic: its last ${DEFAULT_COUNT} records are tried, JSON or Avro, over all partitions.

  --fields LIST      in place of RATING_FIELDS, e.g. user=userId,item=product.id,value=stars,time=ts
  --kinds LIST       in place of RATING_KINDS, e.g. view:1,like:4,purchase:5,remove:null
  --count N          try so many records, 1 to ${COUNT_LIMIT}; without it a file is tried whole
  --from-beginning   of a topic, the first records instead of the last
  --json             one JSON object per record, and one with the counts at the end

Records of a file count as produced now: one without a time gets the present one.

Exit code: 0 every record would count; 1 some would be parked; 3 could not be tried.
`;

const exitCodes = { allCount: 0, someParked: 1, cannot: 3 } as const;

const options = {
  fields: { type: 'string' },
  kinds: { type: 'string' },
  count: { type: 'string' },
  'from-beginning': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

export function intakeCommand(args: readonly string[]): Promise<number> {
  return operate(
    {
      name: 'intake',
      help: HELP,
      options,
      cannot: exitCodes.cannot,
      run: async ({ values, positionals }, place) => {
        const [action, source, ...others] = positionals;
        if (action !== 'try' || source === undefined || others.length > 0) {
          throw new CannotWork(`one FILE or TOPIC is needed\n\n${HELP}`);
        }
        const reader = readerOf(withOverrides(values.fields, values.kinds));
        const count = values.count === undefined ? undefined : countOf(values.count);
        const tried =
          source === '-' || existsSync(source)
            ? tryFile(reader, source, count)
            : tryTopic(reader, place, source, count, values['from-beginning']);
        const tally = new TriedTally();
        for await (const record of tried) {
          tally.add(record);
          say(values.json ? jsonOf(record) : lineOf(record));
        }
        say(values.json ? tally.json() : `\n${tally.summary()}`);
        return tally.parked === 0 ? exitCodes.allCount : exitCodes.someParked;
      },
    },
    args,
  );
}

async function* tryFile(
  reader: RatingReader,
  path: string,
  count = Number.POSITIVE_INFINITY,
): AsyncGenerator<TriedRecord, void> {
  const chunks = path === '-' ? process.stdin : createReadStream(path);
  let left = count;
  for await (const { number, bytes } of fileLines(chunks)) {
    yield tryRecord(reader, `${path}:${number}`, {
      key: null,
      value: bytes,
      timestamp: Date.now(),
    });
    if (--left <= 0) return;
  }
}

async function* tryTopic(
  reader: RatingReader,
  place: Place,
  topic: string,
  count = DEFAULT_COUNT,
  fromBeginning = false,
): AsyncGenerator<TriedRecord, void> {
  const brokers = await openBrokers(place);
  if (!(await brokers.admin.exists(topic))) {
    throw new CannotWork(
      `there is neither a file nor a topic ${topic}: is KAFKA_BROKERS=${place.settings.KAFKA_BROKERS.join(',')} right?`,
    );
  }
  const records = await topicRecords(place, brokers, { topic, count, fromBeginning });
  for (const { partition, record } of records) {
    yield tryRecord(reader, `${topic}/${partition}@${record.offset}`, record);
  }
}

function withOverrides(fields: string | undefined, kinds: string | undefined): Settings {
  return readSettings(
    childEnvironment({
      ...(fields === undefined ? {} : { RATING_FIELDS: fields }),
      ...(kinds === undefined ? {} : { RATING_KINDS: kinds }),
    }),
  );
}

function readerOf(settings: Settings): RatingReader {
  try {
    return new RatingReader(ratingRules(settings));
  } catch (error) {
    throw new CannotWork((error as Error).message, { cause: error });
  }
}

function countOf(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > COUNT_LIMIT) {
    throw new CannotWork(`--count must be a whole number from 1 to ${COUNT_LIMIT}, not "${text}"`);
  }
  return count;
}
