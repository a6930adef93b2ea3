/** `freshet intake try FILE|TOPIC`: what the settings make of real records. Nothing is learnt. */
import { createReadStream, existsSync } from 'node:fs';
import { childEnvironment, readSettings } from '@freshet/config';
import type { RatingReader } from '@freshet/events';
import { schemaRegistry } from '@freshet/session';
import {
  CannotWork,
  flag,
  numberOption,
  openBrokers,
  operatorCommand,
  type Place,
  ratingReader,
  say,
  text,
  WrongUsage,
} from '../operator-command.ts';
import { fileLines } from './file-lines.ts';
import { topicRecords } from './topic-records.ts';
import { jsonOf, lineOf, type TriedRecord, TriedTally, tryRecord } from './tried-record.ts';

const DEFAULT_COUNT = 20;
const COUNT_LIMIT = 10_000; // so many records of each partition are held in memory

const HELP = `freshet intake try FILE|TOPIC [options]

Shows what the settings make of real records: the user, item, value and time of each, or the reason
why it would be parked. Nothing is learnt, written or created. FILE holds one JSON record per line;
- is standard input. If there is no such file, the name is that of a topic, and the last
${DEFAULT_COUNT} records over all its partitions are tried, JSON or Avro, with the schemas of
SCHEMA_REGISTRY_URL if it is set.

  --fields LIST      use this instead of RATING_FIELDS, e.g.
                     user=userId,item=product.id,value=stars,time=ts
  --kinds LIST       use this instead of RATING_KINDS, e.g. view:1,like:4,purchase:5,remove:null
  --count N          try so many records, 1 to ${COUNT_LIMIT}; without it a file is tried whole
  --from-beginning   of a topic, try the first records instead of the last
  --json             print one JSON object per record, and one with the counts at the end

Records of a file are treated as produced now: a record without a time gets the present time.

Exit code: 0 every record would count, 1 some would be parked, 3 could not be tried.
`;

const exitCodes = { allCount: 0, someParked: 1, cannot: 3 } as const;

export const intakeCommand = operatorCommand({
  name: 'intake',
  help: HELP,
  options: { fields: text, kinds: text, count: text, 'from-beginning': flag, json: flag },
  takesArguments: true,
  cannot: exitCodes.cannot,
  run: async ({ values, positionals }, place) => {
    const [action, source, ...others] = positionals;
    if (action !== 'try' || source === undefined || others.length > 0) {
      throw new WrongUsage('try and one FILE or TOPIC are needed');
    }
    const reader = readerWith(values.fields, values.kinds);
    const limits = { from: 1, to: COUNT_LIMIT, isWhole: true };
    const count =
      values.count === undefined ? undefined : numberOption('count', values.count, limits);
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
});

async function* tryFile(
  reader: RatingReader,
  path: string,
  count = Number.POSITIVE_INFINITY,
): AsyncGenerator<TriedRecord, void> {
  const chunks = path === '-' ? process.stdin : createReadStream(path);
  let left = count;
  for await (const { number, bytes } of fileLines(chunks)) {
    const record = { key: null, value: bytes, timestamp: Date.now() };
    yield tryRecord(reader, `${path}:${number}`, record);
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
      `there is neither a file nor a topic ${topic}: check the name, and that KAFKA_BROKERS=${place.settings.KAFKA_BROKERS.join(',')} is right`,
    );
  }
  const records = await topicRecords(place, brokers, { topic, count, fromBeginning });
  const { settings, log } = place;
  const registry = schemaRegistry(settings, [...settings.RATINGS_TOPICS, topic], log);
  const ids = reader.idsToLookUp(records.map(({ record }) => record));
  const schemas = await registry?.lookUp(ids);
  for (const { partition, record } of records) {
    yield tryRecord(reader, `${topic}/${partition}@${record.offset}`, record, schemas);
  }
}

function readerWith(fields: string | undefined, kinds: string | undefined): RatingReader {
  const settings = readSettings(
    childEnvironment({
      ...(fields === undefined ? {} : { RATING_FIELDS: fields }),
      ...(kinds === undefined ? {} : { RATING_KINDS: kinds }),
    }),
  );
  try {
    return ratingReader(settings);
  } catch (error) {
    throw new CannotWork((error as Error).message, { cause: error });
  }
}
