/** `freshet factorize`: all that is known learnt at once; the stream goes on from there. */
import { openSession } from '@freshet/session';
import { CannotWork, operate } from '../operator-command.ts';
import { ProgressLine } from '../progress-line.ts';
import { factorizeStore } from './factorize-store.ts';

const HELP = `freshet factorize [options]

Learns all ratings that the store knows once more, at once (the paper's static factorization), and puts the
vectors and the evidence of items in place of those there are. Ratings and offsets stay: updaters started
afterwards go on where they were, and no rating counts twice. What un-rating and forgetting have left in the
evidence is gone then, too.

Stop the updaters first, with nothing waiting for the item shards (freshet sources); scorers may run, and load
the new vectors by themselves. If it is interrupted while it writes, run it again. A million ratings take
about 850 MB of memory.

To begin with a file: freshet import FILE --wait while an updater runs, stop it, then factorize.

  --passes N       most passes over all users and items [15]
  --tolerance X    stop when a pass lowers the objective by less than this share [0.001]
  --seed N         of the start and the order [1]
  --quiet          no progress on standard error

Exit code: 0 done, 1 could not be done (updaters are running, the store is empty, a server is away).
`;

const options = {
  passes: { type: 'string', default: '15' },
  tolerance: { type: 'string', default: '0.001' },
  seed: { type: 'string', default: '1' },
  quiet: { type: 'boolean', default: false },
} as const;

export function factorizeCommand(args: readonly string[]): Promise<number> {
  return operate(
    {
      name: 'factorize',
      help: HELP,
      options,
      cannot: 1,
      run: async ({ values, positionals }, place) => {
        if (positionals.length > 0) throw new CannotWork(`what is ${positionals[0]}?\n\n${HELP}`);
        const numbers = {
          passes: numberOf('passes', values.passes, 1, 10_000),
          tolerance: numberOf('tolerance', values.tolerance, 0, 1),
          seed: numberOf('seed', values.seed, 0, 2 ** 31),
        };
        const { settings, log, stack } = place;
        const line = new ProgressLine(process.stderr, values.quiet);
        const began = performance.now();
        const learnt = await factorizeStore({
          session: await openSession('factorize', settings, { log, stack }),
          shards: settings.SHARDS,
          stack,
          ...numbers,
          onProgress: (what, share) => line.show(what, share),
        });
        line.clear();
        const { ratings, users, items, pass, objective } = learnt;
        const seconds = ((performance.now() - began) / 1_000).toFixed(1);
        process.stdout.write(
          `${ratings} ratings of ${users} users and ${items} items learnt in ${pass} passes, objective ${objective.toPrecision(6)}, ${seconds} s\n` +
            'start the updaters to go on\n',
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
