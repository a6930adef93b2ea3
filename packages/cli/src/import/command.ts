/** `freshet import FILE`: ratings from a file to a topic that ratings come from, once. */

import { isBehind, type RecordsBehind, untilNoLag } from '@freshet/positions';
import type { Brokers } from '@freshet/session';
import { CannotWork, openBrokers, openStore, operate, type Place } from '../operator-command.ts';
import { ProgressLine } from '../progress-line.ts';
import { importFile } from './import-file.ts';
import { importHelp, importOptions } from './options.ts';

const exitCodes = { done: 0, cannot: 1, interrupted: 130 } as const;
/** Long enough for an updater to take its shards over; then nobody is there. */
const STUCK_MS = 60_000;

export function importCommand(args: readonly string[]): Promise<number> {
  return operate(
    {
      name: 'import',
      help: importHelp,
      options: importOptions,
      cannot: exitCodes.cannot,
      run: async ({ values, positionals }, place) => {
        const [path, ...others] = positionals;
        if (path === undefined || others.length > 0) {
          throw new CannotWork(`one FILE is needed\n\n${importHelp}`);
        }
        const brokers = await openBrokers(place);
        const outcome = await importFile({ ...values, path }, place, brokers);
        if (outcome?.interrupted) return exitCodes.interrupted;
        if (values.wait) await waitUntilApplied(place, brokers, values.quiet);
        return exitCodes.done;
      },
    },
    args,
  );
}

async function waitUntilApplied(place: Place, { admin }: Brokers, quiet: boolean): Promise<void> {
  const began = performance.now();
  const line = new ProgressLine(process.stderr, quiet);
  const left = await untilNoLag({
    admin,
    store: await openStore(place),
    model: place.model,
    sources: place.settings.RATINGS_TOPICS,
    limitMs: Number.POSITIVE_INFINITY,
    stuckMs: STUCK_MS,
    onLag: (lag) => line.show(waitingOf(lag), undefined),
  });
  line.clear();
  if (isBehind(left)) {
    throw new CannotWork(`${waitingOf(left)}, and nobody applies them: is an updater running?`);
  }
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  process.stdout.write(`applied on both sides after ${seconds} s\n`);
}

function waitingOf({ intake, user, item }: RecordsBehind): string {
  return `${intake} records wait for intake, ${user} batches for the user shards, ${item} for the item shards`;
}
