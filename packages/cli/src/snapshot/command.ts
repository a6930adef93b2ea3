/** `freshet snapshot`: everything that the store holds of the model, in one file. */
import { constants, setPriority } from 'node:os';
import { resolve } from 'node:path';
import {
  CannotWork,
  flag,
  openStore,
  operatorCommand,
  say,
  WrongUsage,
} from '../operator-command.ts';
import { ProgressLine } from '../progress-line.ts';
import { takeSnapshot } from './take-snapshot.ts';

const HELP = `freshet snapshot FILE [--quiet]

Writes everything that the store holds of this model to FILE: vectors, rows, evidence, sums, lists,
positions, marks, outboxes and settings. The services go on meanwhile. FILE appears when it is
whole, and replaces a file of that name; until then what is written stands beside it, as
FILE.….part. Ctrl-C leaves nothing. FILE holds what users rated: keep it as safe as Redis itself.

freshet restore brings the model back from it, as long as Kafka still has the records that follow
the positions in the file (USER_RATINGS_DAYS).

  --quiet   print no progress on standard error

Exit code: 0 the snapshot is whole, 1 there is none.
`;

export const snapshotCommand = operatorCommand({
  name: 'snapshot',
  help: HELP,
  options: { quiet: flag },
  takesArguments: true,
  cannot: 1,
  run: async ({ values, positionals }, place) => {
    const path = fileOf(positionals);
    const { model } = place;
    // Compression takes a core for a while: services on the same machine come first. With a lower
    // priority it would take minutes where they are busy, and commits would keep more meanwhile.
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
    const store = await openStore(place);
    const saved = await store.savedModel();
    if (saved === null) {
      throw new CannotWork(`the store holds nothing of model "${model}": is MODEL right?`);
    }
    const line = new ProgressLine(values.quiet);
    const began = performance.now();
    const onProgress = (what: string, share: number) => line.show(what, share);
    const signal = interruption();
    const taken = await takeSnapshot({ store, model, saved, path, onProgress, signal });
    line.clear();
    const { users, items, ratings, bytes } = taken;
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    const size = (bytes / 1e6).toFixed(1);
    say(`${path}: ${users} users, ${items} items, ${ratings} ratings, ${size} MB in ${seconds} s`);
    return 0;
  },
});

/** Aborted by the first signal to end; a second one ends the process at once. */
function interruption(): AbortSignal {
  const interrupted = new AbortController();
  const reason = new CannotWork('interrupted: nothing was written to FILE');
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () => interrupted.abort(reason));
  }
  return interrupted.signal;
}

/** The one file that a command takes. */
export function fileOf([path, ...others]: readonly string[]): string {
  if (path === undefined || others.length > 0) throw new WrongUsage('it takes one FILE');
  return resolve(path);
}
