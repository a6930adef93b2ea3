/**
 * Learns the whole log at once (alg:static) into a store that holds nothing, together with the offsets
 * it covers. Item shards are written first: until a user shard has its position, it would forward its
 * log again, and the item shards drop what their marks cover.
 */
import { type RatingLimits, sides, sourceMark, topicName } from '@freshet/events';
import { factorize, OnlineModel, type Progress } from '@freshet/model';
import { type Session, updaterGroup } from '@freshet/session';
import type { ShardId } from '@freshet/store';
import { groupMembers, Publisher, readTopic } from '@freshet/stream';
import type { ClosingStack, Log } from '@freshet/telemetry';
import { CannotWork } from '../operator-command.ts';
import { JudgedLog } from './judged-log.ts';
import { shardContents } from './shard-contents.ts';
import { writeShard } from './write-shard.ts';

export interface LogFactorization {
  readonly session: Session;
  readonly partitions: number;
  readonly limits: RatingLimits;
  readonly log: Log;
  readonly stack: ClosingStack;
  readonly seed: number;
  readonly passes: number;
  readonly tolerance: number;
  readonly onProgress: (what: string, share: number) => void;
}

export interface Factorized extends Progress {
  readonly ratings: number;
  readonly users: number;
  readonly items: number;
  readonly parked: number;
  /** Records of the log that are covered. */
  readonly covered: number;
}

/** Greater than any ordinal of a fan-out. */
const EVERY_ORDINAL = 2 ** 31;

export async function factorizeLog(options: LogFactorization): Promise<Factorized> {
  const { session, stack, onProgress } = options;
  await requireUnused(options);
  const { judged, ends } = await judgeLog(options);
  const model = new OnlineModel(session.modelSettings);
  for (const [user, { row }] of judged.users) {
    for (const { neighbour, value, time } of row.values()) {
      if (value !== null) model.record(user, neighbour, value, time);
    }
  }
  const { seed, passes, tolerance } = options;
  const progress = factorize(model, {
    seed,
    passes,
    tolerance,
    onPass: ({ pass, objective }) =>
      onProgress(`pass ${pass} of ${passes}, objective ${objective.toPrecision(5)}`, pass / passes),
  });
  const publisher = stack.own(await Publisher.open(session.kafka));
  await publisher.publish(judged.parked);
  const ratings = await writeAll(options, judged, model, publisher, ends);
  return {
    ...progress,
    ratings,
    users: model.users.size,
    items: model.items.size,
    parked: judged.parked.length,
    covered: [...ends.values()].reduce((sum, end) => sum + end, 0),
  };
}

/** Nobody may be writing, and nothing may be written: what is there would be mixed with what is learnt. */
export async function requireUnused({
  session,
  partitions,
}: Pick<LogFactorization, 'session' | 'partitions'>): Promise<void> {
  const { kafka, store, model } = session;
  const groups = sides.map((side) => updaterGroup(model, side));
  const members = await groupMembers(kafka, groups);
  const running = groups.reduce((sum, group) => sum + (members.get(group) ?? 0), 0);
  if (running > 0) {
    throw new CannotWork(
      `model "${model}" is in use: ${running} updater stages are running (one that was killed counts for KAFKA_SESSION_MS); stop them, or choose another MODEL`,
    );
  }
  for (const id of shardIds(partitions).reverse()) {
    const { position } = await store.inspect(id);
    if (position === null) continue;
    throw new CannotWork(
      `model "${model}" is in use: its ${id.side} shard ${id.shard} has learnt up to offset ${position}; choose another MODEL to learn afresh`,
    );
  }
}

async function judgeLog({ session, partitions, limits, log, onProgress }: LogFactorization) {
  const { kafka, admin, model } = session;
  const judged = new JudgedLog({ model, partitions, limits });
  const topic = topicName('ratings', model);
  const total = [...(await admin.ends(topic)).values()].reduce((sum, end) => sum + end, 0);
  let count = 0;
  const ends = await readTopic({
    kafka,
    admin,
    log,
    model,
    topic,
    receive: (partition, records) => {
      judged.receive(partition, records);
      count += records.length;
      onProgress(`${count} records read`, count / Math.max(1, total));
    },
  });
  judged.finish();
  return { judged, ends };
}

async function writeAll(
  { session, partitions, onProgress }: LogFactorization,
  judged: JudgedLog,
  learnt: OnlineModel,
  publisher: Publisher,
  ends: ReadonlyMap<number, number>,
): Promise<number> {
  const { store, admin, model, modelSettings, agreement } = session;
  const life = agreement.born;
  const itemEnds = await admin.ends(topicName('itemRatings', model));
  const covered = [...ends].filter(([, end]) => end > 0);
  const sourceMarks = covered.map(([at, end]) => [
    `source:${at}`,
    sourceMark({ life, offset: end - 1, ordinal: EVERY_ORDINAL }),
  ]);
  const topicIds = {
    user: await admin.topicId(topicName('ratings', model)),
    item: await admin.topicId(topicName('itemRatings', model)),
  };
  let ratings = 0;
  for (const [done, id] of shardIds(partitions).entries()) {
    onProgress(`writing ${id.side} shard ${id.shard}`, done / (2 * partitions));
    const claim = `${id.side}:${id.shard}`;
    const topic = topicName('claims', model);
    const epoch = (await publisher.append({ topic, partition: 0, key: claim, value: null })) + 1;
    await store.takeOver(id, epoch);
    const strays = [...(judged.forwarded[id.shard] ?? [])];
    const write = {
      id,
      epoch,
      factorCount: modelSettings.factorCount,
      next: (id.side === 'user' ? ends : itemEnds).get(id.shard) ?? 0,
      marks: {
        life: String(life),
        ...(topicIds[id.side] === undefined ? {} : { topic: topicIds[id.side] }),
        ...Object.fromEntries(
          id.side === 'user'
            ? strays.map(([from, offset]) => [`forwarded:${from}`, String(offset)])
            : sourceMarks,
        ),
      },
    };
    ratings += await writeShard(store, write, shardContents(id, judged, learnt, partitions));
  }
  return ratings;
}

/** Items first. */
function shardIds(partitions: number): ShardId[] {
  const shards = Array.from({ length: partitions }, (_, shard) => shard);
  return (['item', 'user'] as const).flatMap((side) => shards.map((shard) => ({ side, shard })));
}
