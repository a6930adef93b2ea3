/** `freshet factorize`: a whole history learnt at once; the stream goes on from there. */
import { openSession } from '@freshet/session';
import { ProgressLine } from '../evaluate/progress-line.ts';
import { importFile } from '../import/import-file.ts';
import { importOptions } from '../import/options.ts';
import { CannotWork, openBrokers, operate, ratingLimits } from '../operator-command.ts';
import { factorizeLog, requireUnused } from './factorize-log.ts';

const HELP = `freshet factorize [--from-log | --ratings FILE] [options]

Learns everything on the ratings topic at once (the paper's static factorization) into an empty store,
together with the offsets it covers: services started afterwards go on from there, and no rating counts
twice. Refuses a model that is in use. A million ratings take about 850 MB of memory.

  --from-log       learn what is on the ratings topic (the default)
  --ratings FILE   import FILE first (freshet import --help), then learn the topic
  --by-time, --format NAME, --columns LIST, --again   how FILE is imported
  --passes N       most passes over all users and items [15]
  --tolerance X    stop when a pass lowers the objective by less than this share [0.001]
  --seed N         of the start and the order [1]
  --quiet          no progress on standard error

Exit code: 0 done, 1 could not be done (the store is in use, a server is away), 130 interrupted.
`;

const { wait: _, ...fileOptions } = importOptions;

const options = {
  ...fileOptions,
  'from-log': { type: 'boolean', default: false },
  ratings: { type: 'string' },
  passes: { type: 'string', default: '15' },
  tolerance: { type: 'string', default: '0.001' },
  seed: { type: 'string', default: '1' },
} as const;

const INTERRUPTED = 130;

export function factorizeCommand(args: readonly string[]): Promise<number> {
  return operate(
    {
      name: 'factorize',
      help: HELP,
      options,
      cannot: 1,
      run: async ({ values, positionals }, place) => {
        if (positionals.length > 0) throw new CannotWork(`what is ${positionals[0]}?\n\n${HELP}`);
        if (values['from-log'] && values.ratings !== undefined) {
          throw new CannotWork('--from-log or --ratings FILE, not both');
        }
        const numbers = {
          passes: numberOf('passes', values.passes, 1, 10_000),
          tolerance: numberOf('tolerance', values.tolerance, 0, 1),
          seed: numberOf('seed', values.seed, 0, 2 ** 31),
        };
        const { settings, log, stack } = place;
        const session = await openSession('factorize', settings, { log, stack });
        const partitions = settings.PARTITIONS;
        await requireUnused({ session, partitions });
        if (values.ratings !== undefined) {
          const request = { ...values, path: values.ratings };
          const outcome = await importFile(request, place, await openBrokers(place));
          if (outcome?.interrupted) return INTERRUPTED;
        }
        const line = new ProgressLine(process.stderr, values.quiet);
        const began = performance.now();
        const learnt = await factorizeLog({
          session,
          partitions,
          log,
          stack,
          ...numbers,
          limits: ratingLimits(settings),
          onProgress: (what, share) => line.show(what, share),
        });
        line.clear();
        const { ratings, users, items, pass, objective, covered, parked } = learnt;
        const seconds = ((performance.now() - began) / 1_000).toFixed(1);
        process.stdout.write(
          `${ratings} ratings of ${users} users and ${items} items learnt in ${pass} passes, objective ${objective.toPrecision(6)}, ${seconds} s\n` +
            `${covered} records of the log are covered${parked > 0 ? `, ${parked} of them parked` : ''}; start the services to go on\n`,
        );
        return 0;
      },
    },
    args,
  );
}

function numberOf(name: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (text.trim() !== '' && number >= least && number <= most) return number;
  throw new CannotWork(`--${name} must be a number from ${least} to ${most}, not ${text}`);
}
