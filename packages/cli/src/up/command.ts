/** `freshet up`: runs Kafka, Redis and every service on this machine, with a demo stream. */
import { parseArgs } from 'node:util';
import { settingsOrExit } from '@freshet/config';
import { asSetupProblem, SetupProblem } from '@freshet/local';
import { ClosingStack } from '@freshet/service';
import { flag, text, WrongUsage } from '../operator-command.ts';
import { readingHelp, readingOf, readingRows } from '../ratings-file-options.ts';
import { rateOption } from './demo.ts';
import { DEMO_RATE, startUp } from './start-up.ts';

const HELP = `freshet up [--ratings FILE | --rate N | --no-demo]

Runs Kafka, Redis and every service on this machine, on loopback only, and learns the ratings of
FILE, or streams generated ratings to watch. Data and logs are kept in your cache folder
(XDG_CACHE_HOME), those of each FILE by themselves, so that the next run continues with them. To use
servers of your own, set KAFKA_BROKERS and REDIS_URL; every other setting of freshet reference works
too. If a port is taken, the next free one is used. Ctrl-C stops everything that was started.

  --ratings FILE   learn these ratings, and stream no demo; FILE is
                   ${readingHelp.file}
${readingRows}
  --rate N         demo ratings per second (default ${DEMO_RATE}; with KAFKA_BROKERS none, because they
                   are written to the topic ratings there)
  --no-demo        stream no demo ratings

Exit code: 0 stopped by Ctrl-C or a signal, 1 could not start, or Kafka or Redis ended.
`;

/** A step that is running when the user wants to stop gets this long to end by itself. */
const STEP_GRACE_MS = 2_000;
const EXIT_GRACE_MS = 500;

const say = (text: string): void => void process.stdout.write(text);

export async function up(args: readonly string[]): Promise<number> {
  const { help, rate, reading } = optionsOf(args);
  if (help) {
    say(HELP);
    return 0;
  }
  const settings = settingsOrExit();
  const file = reading && { ...reading, kinds: settings.RATING_KINDS };
  const stack = new ClosingStack();
  const ending = new AbortController();
  const { signal } = ending;
  const ended = new Promise((resolve) => signal.addEventListener('abort', resolve));
  const fail = (error: unknown): void => ending.abort(error);
  onEveryEnd(() => ending.abort(ASKED), fail);

  const starting = startUp({ settings, stack, rate, file, signal, fail, say });
  starting.catch(fail);
  await ended;
  const told = stack.size > 0;
  if (told) say('\nstopping … ');
  await closeAll(stack, starting);
  if (told) say('stopped\n');
  // A client that still retries a server which has been stopped must not keep this process alive.
  setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
  if (signal.reason === ASKED) return 0;
  throw asSetupProblem(signal.reason);
}

const ASKED = 'asked to stop';

/** Everything that this process started must be stopped before it ends, whatever the reason. */
function onEveryEnd(ask: () => void, fail: (error: unknown) => void): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, ask);
  // Nobody reads the output any more, as in `npm start | head` or after a terminal was closed.
  process.stdout.on('error', ask);
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
}

async function closeAll(stack: ClosingStack, starting: Promise<void>): Promise<void> {
  const begun = Promise.allSettled([starting]);
  const close = () =>
    stack.close().catch((error: AggregateError) => {
      for (const cause of error.errors) process.stderr.write(`freshet: ${cause}\n`);
    });
  await Promise.race([begun, new Promise((resolve) => setTimeout(resolve, STEP_GRACE_MS).unref())]);
  await close();
  await begun;
  // Closes what the interrupted step opened meanwhile.
  await close();
}

function optionsOf(args: readonly string[]) {
  const options = {
    ratings: text,
    columns: text,
    format: text,
    dates: text,
    rate: text,
    'no-demo': flag,
    help: flag,
  };
  try {
    const { values } = parseArgs({ args: [...args], options });
    const { help, ratings: path, columns, format, dates } = values;
    const rate = values.rate === undefined ? undefined : rateOption(values.rate);
    readingOf(values);
    if (path === undefined && (columns ?? format ?? dates) !== undefined) {
      throw new WrongUsage('--columns, --format and --dates say how to read the file of --ratings');
    }
    const reading = path === undefined ? undefined : { path, columns, format, dates };
    return { help, rate: values['no-demo'] || reading ? 0 : rate, reading };
  } catch (error) {
    throw new SetupProblem(`${(error as Error).message} (freshet up --help lists all options)`);
  }
}
