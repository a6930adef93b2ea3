/**
 * What do the commands that work on a running system share? How options are read, how Kafka and
 * Redis are reached with the settings of the services, and which errors are the operator's to mend:
 * those are told in one line, anything else with its trace. Either way the exit code says that the work
 * was not done, and never what its outcome would have been.
 */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { BadConfig, childEnvironment, readSettings, type Settings } from '@freshet/config';
import { RatingReader, ratingRules, type Topic, topicName } from '@freshet/events';
import { ClosingStack } from '@freshet/service';
import { type Brokers, openBrokers as open } from '@freshet/session';
import { type FactorStore, ManifestMismatch, RedisStore, RedisUnreachable } from '@freshet/store';
import {
  KafkaUnreachable,
  PartitionMismatch,
  type TopicAdmin,
  type TopicPlan,
} from '@freshet/stream';
import { type Log, openLog } from '@freshet/telemetry';

export type Options = NonNullable<ParseArgsConfig['options']>;
export type Given<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true }>
>;

interface OperatorCommand<O extends Options> {
  readonly name: string;
  readonly help: string;
  readonly options: O;
  /** Exit code for what keeps the command from its work: servers away, wrong usage, bad files. */
  readonly cannot: number;
  /** Returns the exit code. */
  run(given: Given<O>, at: Place): Promise<number>;
}

/** Where a command works. */
export interface Place {
  readonly settings: Settings;
  readonly model: string;
  readonly log: Log;
  readonly stack: ClosingStack;
}

/** The command cannot do its work and the operator can help: the message says how. */
export class CannotWork extends Error {
  override readonly name = 'CannotWork';
}

const expected = [
  CannotWork,
  BadConfig,
  KafkaUnreachable,
  RedisUnreachable,
  PartitionMismatch,
  ManifestMismatch,
];

export async function operate<O extends Options>(
  command: OperatorCommand<O>,
  args: readonly string[],
): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(command.help);
    return 0;
  }
  const stack = new ClosingStack();
  try {
    const given = read(command, args);
    const settings = readSettings(childEnvironment({}));
    const log = openLog(command.name, 'error');
    return await command.run(given, { settings, model: settings.MODEL, log, stack });
  } catch (error) {
    const { message, stack: trace = message } = error as Error;
    process.stderr.write(`freshet ${command.name}: ${isExpected(error) ? message : trace}\n`);
    return command.cannot;
  } finally {
    await stack.close();
  }
}

/** Reads records as intake does. */
export function ratingReader(settings: Settings): RatingReader {
  return new RatingReader(ratingRules(settings));
}

/** The topics that the services of a model need. */
export function topicPlan(settings: Settings): TopicPlan {
  return {
    model: settings.MODEL,
    shards: settings.SHARDS,
    days: settings.USER_RATINGS_DAYS,
    replication: settings.KAFKA_REPLICATION,
    sources: settings.RATINGS_TOPICS,
  };
}

/** How many partitions a topic of the user's has; throws where there is none. */
export async function partitionsOf(
  admin: Pick<TopicAdmin, 'exists' | 'ends'>,
  topic: string,
): Promise<number> {
  if (await admin.exists(topic)) return (await admin.ends(topic)).size;
  throw new CannotWork(`there is no topic ${topic}: create it, or name another in RATINGS_TOPICS`);
}

/** Kafka with the settings of the services; creates nothing. */
export function openBrokers({ settings, ...context }: Place): Promise<Brokers> {
  return open('cli', settings, context);
}

/** For commands that only look: looking must not create anything, nor wait for what is not there. */
export async function requireTopics(
  { admin }: Brokers,
  model: string,
  wanted: readonly Topic[],
): Promise<void> {
  const names = wanted.map((topic) => topicName(topic, model));
  const missing = await admin.missing(names);
  if (missing.length === 0) return;
  throw new CannotWork(
    `there is no topic ${missing.join(', ')}: is MODEL=${model} the right one? freshet topics creates what is missing`,
  );
}

/** The model's store, without writing its manifest: for commands that only look. */
export async function openStore({ settings, model, log, stack }: Place): Promise<FactorStore> {
  const store = await RedisStore.open(settings.REDIS_URL, model, (error) => {
    log.debug({ err: error }, 'redis connection');
  });
  return stack.own(store);
}

function read<O extends Options>(command: OperatorCommand<O>, args: readonly string[]): Given<O> {
  try {
    return parseArgs({ args: [...args], options: command.options, allowPositionals: true });
  } catch (error) {
    throw new CannotWork(`${(error as Error).message}\n\n${command.help}`, { cause: error });
  }
}

function isExpected(error: unknown): boolean {
  if (expected.some((type) => error instanceof type)) return true;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return ['ENOENT', 'EACCES', 'EISDIR'].includes(code);
}
