/** `freshet factorize`: learns all known ratings at once; the stream continues from there. */
import { openSession } from '@freshet/session';
import {
  flag,
  numberOption,
  openStore,
  operatorCommand,
  say,
  textOr,
} from '../operator-command.ts';
import { ProgressLine } from '../progress-line.ts';
import { factorizeStore } from './factorize-store.ts';

const HELP = `freshet factorize [options]

Learns all ratings in the store again, at once (the paper's static factorization), and replaces the
vectors and the evidence of items. Ratings and positions stay as they are: updaters that are started
afterwards continue where they stopped, and no rating counts twice. The residue that un-rating and
forgetting leave in the evidence is gone afterwards.

Before you run it, wait until nothing waits for the item shards (freshet sources), and stop the
updaters. Scorers may keep running; they load the new vectors by themselves. If it is interrupted
while it writes, run it again. A million ratings need about 850 MB of memory.

To begin with a file: run freshet import FILE --wait while an updater runs, stop the updater, then
factorize.

  --passes N       at most so many passes over all users and items [15]
  --tolerance X    stop when a pass lowers the objective by less than this share [0.001]
  --seed N         seed of the first vectors and of the order [1]
  --quiet          print no progress on standard error

Exit code: 0 done, 1 not done (updaters are running, the store is empty, or a server is away).
`;

export const factorizeCommand = operatorCommand({
  name: 'factorize',
  help: HELP,
  options: { passes: textOr('15'), tolerance: textOr('0.001'), seed: textOr('1'), quiet: flag },
  cannot: 1,
  run: async ({ values }, place) => {
    const numbers = {
      passes: numberOption('passes', values.passes, { from: 1, to: 10_000 }),
      tolerance: numberOption('tolerance', values.tolerance, { from: 0, to: 1 }),
      seed: numberOption('seed', values.seed, { from: 0, to: 2 ** 31 }),
    };
    const line = new ProgressLine(values.quiet);
    const began = performance.now();
    // Throws if the model is being restored: openSession would wait until it is whole.
    await openStore(place);
    const { settings, log, stack } = place;
    const { ratings, users, items, pass, objective } = await factorizeStore({
      session: await openSession('factorize', settings, { log, stack }),
      shards: settings.SHARDS,
      stack,
      ...numbers,
      onProgress: (what, share) => line.show(what, share),
    });
    line.clear();
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    say(
      `${ratings} ratings of ${users} users and ${items} items learnt in ${pass} passes, objective ${objective.toPrecision(6)}, ${seconds} s`,
    );
    say('start the updaters to go on');
    return 0;
  },
});
