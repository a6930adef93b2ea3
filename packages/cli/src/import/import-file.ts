/** Imports one file, and tells where the state is kept, how far it is and what it skipped. */
import { cacheFolder, type Settings, settings } from '@freshet/config';
import { type Brokers, topicPlan } from '@freshet/session';
import { Publisher } from '@freshet/stream';
import {
  CannotWork,
  type Place,
  partitionsOf,
  ratingReader,
  ratingsTopic,
  say,
} from '../operator-command.ts';
import { fileRatings, type RatingsFile } from './file-ratings.ts';
import { type ImportOutcome, importRatings } from './import-ratings.ts';
import { type ImportState, ImportStateFile, isRecreated } from './import-state.ts';
import { IntakeCheck } from './intake-check.ts';
import { Telling } from './telling.ts';

interface ImportRequest extends RatingsFile {
  readonly topic?: string | undefined;
  readonly 'by-time': boolean;
  /** Absent where the operator has no option to send a file again. */
  readonly again?: boolean;
  readonly quiet: boolean;
  /** Where the progress is kept, if Kafka keeps its data in that folder too and for it alone. */
  readonly stateFolder?: string | undefined;
}

/** Returns undefined if the file was imported before. */
export async function importFile(
  request: ImportRequest,
  place: Place,
  brokers: Brokers,
): Promise<ImportOutcome | undefined> {
  const { settings: chosen, model, log, stack } = place;
  const topic = ratingsTopic(request.topic, chosen);
  await brokers.admin.ensure(topicPlan(chosen));
  const partitions = await partitionsOf(brokers.admin, topic);
  const file = stateFileOf(request, topic, chosen);
  const at = { partitions, topicId: await brokers.admin.topicId(topic) };
  const state = stateOf(request, file, await brokers.admin.ends(topic), at);
  if (state === undefined) return undefined;
  const telling = new Telling(request);
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    const outcome = await importRatings({
      ...brokers,
      publisher: stack.own(await Publisher.open(brokers.kafka)),
      topic,
      partitions: state.partitions,
      model,
      log,
      batches: fileRatings(request, request['by-time'], telling),
      state,
      save: (next) => file?.write(next),
      onSent: telling.onSent,
      check: new IntakeCheck(request.path, ratingReader(chosen), telling.onRefused),
      signal: stop.signal,
    });
    telling.end(outcome);
    if (!outcome.interrupted && outcome.sent + outcome.skipped === 0) {
      throw new CannotWork(`${request.path} has no ratings`);
    }
    return outcome;
  } finally {
    process.removeListener('SIGINT', interrupt).removeListener('SIGTERM', interrupt);
  }
}

function stateFileOf(
  request: ImportRequest,
  topic: string,
  { KAFKA_BROKERS: brokers, RATING_MAX: max }: Settings,
): ImportStateFile | undefined {
  if (request.path === '-') return undefined;
  const { path, format, columns, dates, kinds, stateFolder } = request;
  const byTime = request['by-time'];
  const given = { format, columns, dates, byTime, ...(kinds.size > 0 && { kinds: [...kinds] }) };
  // RATING_MAX decides which ratings are left out, and so how the file is cut into chunks.
  const own = max === Number(settings.RATING_MAX.fallback) ? given : { ...given, max };
  const reading = JSON.stringify(own);
  // A Kafka of that folder may have another port at every start.
  if (stateFolder) return ImportStateFile.of(path, { brokers: [], topic, reading }, stateFolder);
  return ImportStateFile.of(path, { brokers, topic, reading }, cacheFolder());
}

/** Tells where the import begins; undefined if this file was imported already. */
function stateOf(
  request: ImportRequest,
  file: ImportStateFile | undefined,
  ends: ReadonlyMap<number, number>,
  at: Pick<ImportState, 'partitions' | 'topicId'>,
): ImportState | undefined {
  if (file === undefined) {
    say('reading standard input; an import that is interrupted cannot be continued');
    const nothing = { ...at, chunks: 0, ratings: 0, ends: [], done: false };
    return { file: '-', id: `${process.pid}`, ...nothing };
  }
  const known = file.read();
  if (known === undefined || request.again) {
    if (request.stateFolder && file.hasOthers) {
      say(
        `${request.path} has changed, or is read otherwise: all of it is sent again, and what is not in it any more stays; to begin anew, stop this and remove ${request.stateFolder}`,
      );
    }
    say(`importing ${request.path}; progress is kept in ${file.path}`);
    return file.fresh(at);
  }
  if (isRecreated(known, ends, at.topicId)) {
    say(`the topic was created anew since ${request.path} was imported: starting over`);
    return file.fresh(at);
  }
  if (known.done) {
    const hint = request.again === undefined ? '' : '; --again sends it again';
    say(`${request.path} was imported already, ${known.ratings} ratings${hint}`);
    return undefined;
  }
  say(`continuing ${request.path} after ${known.ratings} ratings (${file.path})`);
  return known;
}
