/** `freshet import FILE`: sends the ratings of a file to a topic of RATINGS_TOPICS, once. */
import {
  CannotWork,
  flag,
  openBrokers,
  operatorCommand,
  ratingReader,
  say,
  text,
  WrongUsage,
} from '../operator-command.ts';
import { readingHelp, readingRows } from '../ratings-file-options.ts';
import { importFile } from './import-file.ts';
import { isPlainFile, linesAbout, lookAtFile } from './look-at-file.ts';
import { waitUntilApplied } from './wait-until-applied.ts';

const HELP = `freshet import FILE [options]

Sends the ratings of a file to a topic of RATINGS_TOPICS, each with its own time. FILE is
${readingHelp.file}; - is standard input.

  --topic NAME     the topic to send to, one of RATINGS_TOPICS; the first of them if absent
  --by-time        sort the ratings by time first, as a live stream would send them; needs memory
                   for the whole file
${readingRows}
  --again          send the file again although it was imported, or start an interrupted import over
  --wait           wait until every rating is applied on both sides
  --quiet          print no progress on standard error

To continue an interrupted import, run the same command again. The progress is kept in the cache
folder, by file, topic and brokers; its path is printed at the start. Standard input cannot be
continued. Lines that are no ratings are skipped, and the first of them printed; if more than 1 % of
the lines are none, the import stops.

Exit code: 0 done, 1 not imported (or, with --wait, not applied), 130 interrupted.
`;

const exitCodes = { done: 0, cannot: 1, interrupted: 130 } as const;

export const importCommand = operatorCommand({
  name: 'import',
  help: HELP,
  options: {
    topic: text,
    'by-time': flag,
    format: text,
    columns: text,
    dates: text,
    again: flag,
    wait: flag,
    quiet: flag,
  },
  takesArguments: true,
  cannot: exitCodes.cannot,
  run: async ({ values, positionals }, place) => {
    const [path, ...others] = positionals;
    if (path === undefined || others.length > 0) throw new WrongUsage('one FILE is needed');
    const { settings } = place;
    const file = { ...values, path, kinds: settings.RATING_KINDS };
    if (path !== '-') {
      if (!isPlainFile(path)) {
        throw new CannotWork(`${path} is a pipe: import - reads one from standard input`);
      }
      const look = await lookAtFile(file, ratingReader(settings));
      for (const line of linesAbout(file, look)) say(line);
    }
    const brokers = await openBrokers(place);
    const outcome = await importFile(file, place, brokers);
    if (outcome?.interrupted) return exitCodes.interrupted;
    if (values.wait) await waitUntilApplied(place, brokers, values);
    return exitCodes.done;
  },
});
