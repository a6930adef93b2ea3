/**
 * What do the commands that work on a running system share? How they read options, and how they
 * reach Kafka and Redis. An error that the operator can mend is printed in one line, any other with
 * its stack trace. The exit code of an error says only that the work was not done.
 */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { BadConfig, childEnvironment, readSettings, type Settings } from '@freshet/config';
import { RatingReader, ratingRules, type Topic, topicName } from '@freshet/events';
import { UnreadableRatings } from '@freshet/ratings-files';
import { ClosingStack } from '@freshet/service';
import { type Brokers, openBrokers as open, openStore as openStoreOf } from '@freshet/session';
import {
  CopyFailed,
  type FactorStore,
  ManifestMismatch,
  RedisUnreachable,
  type ShardHead,
  shardIds,
} from '@freshet/store';
import { KafkaUnreachable, type TopicAdmin, UnusableTopics } from '@freshet/stream';
import { type Log, openLog, ServerAway } from '@freshet/telemetry';

type Options = NonNullable<ParseArgsConfig['options']>;
type Given<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true }>
>;

interface OperatorCommand<O extends Options> {
  readonly name: string;
  readonly help: string;
  readonly options: O;
  /** Whether it takes arguments that are no options, such as a file. */
  readonly takesArguments?: boolean;
  /** The exit code when a server is away, the usage is wrong or a file cannot be read. */
  readonly cannot: number;
  /** Returns the exit code. */
  run(given: Given<O>, at: Place): Promise<number>;
}

/** Options of commands: without a value, with one, and with one that has a default. */
export const flag = { type: 'boolean', default: false } as const;
export const text = { type: 'string' } as const;
export const textOr = (fallback: string) => ({ ...text, default: fallback }) as const;

export interface Place {
  readonly settings: Settings;
  readonly model: string;
  readonly log: Log;
  readonly stack: ClosingStack;
}

/** The command cannot do its work, and the message says what the operator can do about it. */
export class CannotWork extends Error {
  override readonly name: string = 'CannotWork';
}

export class WrongUsage extends CannotWork {
  override readonly name = 'WrongUsage';
}

const expected = [
  CannotWork,
  UnreadableRatings,
  BadConfig,
  KafkaUnreachable,
  RedisUnreachable,
  UnusableTopics,
  ManifestMismatch,
  ServerAway,
  CopyFailed,
];

export function operatorCommand<O extends Options>(
  command: OperatorCommand<O>,
): (args: readonly string[]) => Promise<number> {
  return async (args) => {
    const { name, help, cannot } = command;
    if (args.includes('--help')) {
      process.stdout.write(help);
      return 0;
    }
    // Nobody reads the output any more, as in `freshet topics | head`.
    process.stdout.once('error', () => process.exit(cannot));
    const stack = new ClosingStack();
    try {
      const given = givenOf(command.options, args);
      const [first] = given.positionals;
      if (!command.takesArguments && first !== undefined) {
        throw new WrongUsage(`it takes no argument "${first}"`);
      }
      const settings = readSettings(childEnvironment({}));
      const log = openLog(name, 'error');
      return await command.run(given, { settings, model: settings.MODEL, log, stack });
    } catch (error) {
      const { message, stack: trace = message } = error as Error;
      const isExpected = expected.some((type) => error instanceof type) || isOfFile(error);
      process.stderr.write(`freshet ${name}: ${isExpected ? message : trace}\n`);
      if (error instanceof WrongUsage) {
        process.stderr.write(`freshet ${name} --help lists all options\n`);
      }
      return cannot;
    } finally {
      await stack.close();
    }
  };
}

const ofFiles =
  'ENOENT EACCES EPERM EISDIR ENOTDIR ENAMETOOLONG ENOSPC EDQUOT EFBIG EROFS EIO'.split(' ');

/** Whether a file that the operator named cannot be read or written. */
export function isOfFile(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return ofFiles.includes(code);
}

export function numberOption(
  name: string,
  text: string,
  limits: { readonly from: number; readonly to?: number; readonly isWhole?: boolean },
): number {
  const { from, to = Number.POSITIVE_INFINITY, isWhole = false } = limits;
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (number >= from && number <= to && (!isWhole || Number.isInteger(number))) return number;
  const kind = isWhole ? 'a whole number' : 'a number';
  const range = Number.isFinite(to) ? `from ${from} to ${to}` : `of at least ${from}`;
  throw new WrongUsage(`--${name} must be ${kind} ${range}, not "${text}"`);
}

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

export function ratingReader(settings: Settings): RatingReader {
  return new RatingReader(ratingRules(settings));
}

/** The topic that --topic names, or else the first of RATINGS_TOPICS. */
export function ratingsTopic(given: string | undefined, { RATINGS_TOPICS }: Settings): string {
  const chosen = given ?? RATINGS_TOPICS[0];
  if (chosen !== undefined && RATINGS_TOPICS.includes(chosen)) return chosen;
  throw new WrongUsage(`--topic must be one of RATINGS_TOPICS: ${RATINGS_TOPICS.join(', ')}`);
}

/** How many partitions a topic of the user's has; throws if there is no such topic. */
export async function partitionsOf(
  admin: Pick<TopicAdmin, 'exists' | 'ends'>,
  topic: string,
): Promise<number> {
  if (await admin.exists(topic)) return (await admin.ends(topic)).size;
  throw new CannotWork(`there is no topic ${topic}: create it, or name another in RATINGS_TOPICS`);
}

/** Connects to Kafka with the settings of the services; creates nothing. */
export function openBrokers({ settings, ...context }: Place): Promise<Brokers> {
  return open('cli', settings, context);
}

/** For commands that only read: they must neither create topics nor wait for missing ones. */
export async function requireTopics(
  { admin }: Brokers,
  model: string,
  wanted: readonly Topic[],
): Promise<void> {
  const names = wanted.map((topic) => topicName(topic, model));
  const missing = await admin.missing(names);
  if (missing.length === 0) return;
  throw new CannotWork(
    `there is no topic ${missing.join(', ')}: check that MODEL=${model} is right, or run freshet topics, which creates missing topics`,
  );
}

/** For what can be repeated, and must be if a server goes away in the middle of it. */
export function unfinished(what: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ServerAway)) throw error;
    throw new CannotWork(`${error.message}. The ${what} is not finished: run it again`);
  };
}

/** Opens the model's store without writing its manifest. Throws while it is not whole. */
export async function openStore(place: Place): Promise<FactorStore> {
  const store = await openAnyStore(place);
  if (!(await store.occupation()).isRestoring) return store;
  throw new CannotWork(
    `model "${place.model}" is being restored from a snapshot, or freshet restore was interrupted: ` +
      'wait until it has ended, or run it again',
  );
}

/** The same, restored or not, for commands that replace what the store holds. */
export function openAnyStore({ settings, ...context }: Place): Promise<FactorStore> {
  return openStoreOf(settings, context);
}

/** The values and arguments of a command line; throws for an option that is not in the table. */
export function givenOf<O extends Options>(options: O, args: readonly string[]): Given<O> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new WrongUsage((error as Error).message, { cause: error });
  }
}

/** How far each shard is, those of users first. */
export function headsOf(store: Pick<FactorStore, 'head'>, shards: number): Promise<ShardHead[]> {
  return Promise.all(shardIds(shards).map((id) => store.head(id)));
}
