/** Imports one file and tells a person about it: where the state is, how far, how fast, what was left out. */
import { cacheFolder } from '@freshet/config';
import { UnreadableRatings } from '@freshet/ratings-files';
import type { Brokers } from '@freshet/session';
import { Publisher } from '@freshet/stream';
import {
  CannotWork,
  type Place,
  partitionsOf,
  ratingReader,
  topicPlan,
} from '../operator-command.ts';
import { fileRatings } from './file-ratings.ts';
import { type ImportOutcome, importRatings } from './import-ratings.ts';
import { type ImportState, ImportStateFile, isRecreated } from './import-state.ts';
import type { ImportRequest } from './options.ts';
import { Telling, tell } from './telling.ts';

/** Undefined: there was nothing left to do. */
export async function importFile(
  request: ImportRequest,
  place: Place,
  brokers: Brokers,
): Promise<ImportOutcome | undefined> {
  const { settings, model, log, stack } = place;
  const topic = topicOf(request, settings.RATINGS_TOPICS);
  await brokers.admin.ensure(topicPlan(settings));
  const partitions = await partitionsOf(brokers.admin, topic);
  const file = stateFileOf(request, topic, settings.KAFKA_BROKERS);
  const state = stateOf(request, file, await brokers.admin.ends(topic), partitions);
  if (state === undefined) return undefined;
  const telling = new Telling(request);
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  const { path, format, columns, 'by-time': byTime } = request;
  try {
    const outcome = await importRatings({
      ...brokers,
      publisher: stack.own(await Publisher.open(brokers.kafka)),
      topic,
      partitions: state.partitions,
      model,
      log,
      reader: ratingReader(settings),
      batches: fileRatings({ path, format, columns, byTime }, telling),
      state,
      save: (next) => file?.write(next),
      onSent: telling.onSent,
      onRefused: telling.onRefused,
      signal: stop.signal,
    });
    telling.end(outcome);
    return outcome;
  } catch (error) {
    if (error instanceof UnreadableRatings) throw new CannotWork(error.message, { cause: error });
    throw error;
  } finally {
    process.removeListener('SIGINT', interrupt).removeListener('SIGTERM', interrupt);
  }
}

function topicOf({ topic }: ImportRequest, sources: readonly string[]): string {
  const chosen = topic ?? sources[0];
  if (chosen !== undefined && sources.includes(chosen)) return chosen;
  throw new CannotWork(`--topic must be one of RATINGS_TOPICS: ${sources.join(', ')}`);
}

function stateFileOf(
  request: ImportRequest,
  topic: string,
  brokers: readonly string[],
): ImportStateFile | undefined {
  if (request.path === '-') return undefined;
  const { format, columns } = request;
  const reading = JSON.stringify({ format, columns, byTime: request['by-time'] });
  return ImportStateFile.of(request.path, { brokers, topic, reading }, cacheFolder());
}

/** Where to begin, told to the person; undefined if this file was imported already. */
function stateOf(
  request: ImportRequest,
  file: ImportStateFile | undefined,
  ends: ReadonlyMap<number, number>,
  partitions: number,
): ImportState | undefined {
  if (file === undefined) {
    tell('reading standard input; if this is interrupted it cannot be continued');
    const nothing = { partitions, chunks: 0, ratings: 0, ends: [], done: false };
    return { file: '-', id: `${process.pid}`, ...nothing };
  }
  const known = file.read();
  if (known === undefined || request.again) {
    tell(`importing ${request.path}; progress is kept in ${file.path}`);
    return file.fresh(partitions);
  }
  if (isRecreated(known, ends)) {
    tell(`the topic was recreated since ${request.path} was imported: starting from its beginning`);
    return file.fresh(partitions);
  }
  if (known.done) {
    tell(`${request.path} was imported already, ${known.ratings} ratings; --again sends it again`);
    return undefined;
  }
  tell(`continuing ${request.path} after ${known.ratings} ratings (${file.path})`);
  return known;
}
