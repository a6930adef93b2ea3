/** Imports one file and tells a person about it: where the state is, how far, how fast, what was left out. */
import { cacheFolder } from '@freshet/config';
import { topicName } from '@freshet/events';
import { UnreadableRatings } from '@freshet/experiments';
import type { Brokers } from '@freshet/session';
import { Publisher } from '@freshet/stream';
import { CannotWork, type Place, ratingLimits } from '../operator-command.ts';
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
  const topic = topicName('ratings', model);
  const partitions = settings.PARTITIONS;
  await brokers.admin.ensure({ model, partitions, replication: settings.KAFKA_REPLICATION });
  const file = stateFileOf(request, topic, settings.KAFKA_BROKERS);
  const state = stateOf(request, file, await brokers.admin.ends(topic));
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
      partitions,
      model,
      log,
      limits: ratingLimits(settings),
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
): ImportState | undefined {
  if (file === undefined) {
    tell('reading standard input; if this is interrupted it cannot be continued');
    return { file: '-', id: `${process.pid}`, chunks: 0, ratings: 0, ends: [], done: false };
  }
  const known = file.read();
  if (known === undefined || request.again) {
    tell(`importing ${request.path}; progress is kept in ${file.path}`);
    return file.fresh();
  }
  if (isRecreated(known, ends)) {
    tell(`the topic was recreated since ${request.path} was imported: starting from its beginning`);
    return file.fresh();
  }
  if (known.done) {
    tell(`${request.path} was imported already, ${known.ratings} ratings; --again sends it again`);
    return undefined;
  }
  tell(`continuing ${request.path} after ${known.ratings} ratings (${file.path})`);
  return known;
}
