/** `freshet up`: Kafka, Redis and every service on this machine, with a demo stream to watch. */
import { parseArgs } from 'node:util';
import { settingsOrExit } from '@freshet/config';
import { asSetupProblem, SetupProblem } from '@freshet/local';
import { ClosingStack } from '@freshet/service';
import { startUp } from './start-up.ts';

const HELP = `freshet up [--rate N] [--no-demo]

Runs Kafka, Redis and every service on loopback and streams demo ratings. Data is kept between runs
in the user's cache folder. KAFKA_BROKERS and REDIS_URL use servers of yours instead; every other
setting of docs/reference.md may be given too. Ctrl-C stops everything it started.

  --rate N     demo ratings per second (default 20)
  --no-demo    no demo stream
`;

const RATE_LIMIT = 100_000;
/** Whatever is being started when the user wants to stop is given this long to be done. */
const STEP_GRACE_MS = 2_000;
const EXIT_GRACE_MS = 500;

const say = (text: string): void => void process.stdout.write(text);

export async function up(args: readonly string[]): Promise<number> {
  const { help, rate } = optionsOf(args);
  if (help) {
    say(HELP);
    return 0;
  }
  const settings = settingsOrExit();
  const stack = new ClosingStack();
  const ending = new AbortController();
  const { signal } = ending;
  const ended = new Promise((resolve) => signal.addEventListener('abort', resolve));
  const fail = (error: unknown): void => ending.abort(error);
  onEveryEnd(() => ending.abort(ASKED), fail);

  const starting = startUp({ settings, stack, rate, signal, fail, say });
  starting.catch(fail);
  await ended;
  const told = stack.size > 0;
  if (told) say('\nstopping … ');
  await closeAll(stack, starting);
  if (told) say('stopped\n');
  // A client that still tries to reach a server which is gone must not keep this process.
  setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
  if (signal.reason === ASKED) return 0;
  throw asSetupProblem(signal.reason);
}

const ASKED = 'asked to stop';

/** Whatever ends this process must first end what it started. */
function onEveryEnd(ask: () => void, fail: (error: unknown) => void): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, ask);
  // Nobody reads any more: `npm start | head`, or a terminal that was closed.
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
  // What the interrupted step opened after all.
  await close();
}

function optionsOf(args: readonly string[]): { help: boolean; rate: number } {
  const options = {
    rate: { type: 'string', default: '20' },
    'no-demo': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  try {
    const { values } = parseArgs({ args: [...args], options });
    const rate = Number(values.rate);
    if (!(rate > 0 && rate <= RATE_LIMIT)) throw new Error(`--rate must be up to ${RATE_LIMIT}`);
    return { help: values.help, rate: values['no-demo'] ? 0 : rate };
  } catch (error) {
    throw new SetupProblem(`${(error as Error).message} (freshet up --help tells the options)`);
  }
}
