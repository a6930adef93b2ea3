/**
 * Learns every rating in the store again, all at once (alg:static), and replaces the vectors and
 * the evidence. The ratings and the positions stay, so the stream continues where it stopped.
 */
import assert from 'node:assert';
import { type Side, shardOf, sides, topicName } from '@freshet/events';
import { type FactorizeProgress, factorize, handOver, OnlineModel } from '@freshet/model';
import { updaterGroup } from '@freshet/positions';
import type { ClosingStack } from '@freshet/service';
import type { Session } from '@freshet/session';
import {
  decodeRow,
  type ShardId,
  type ShardState,
  type StoredVector,
  shardIds,
} from '@freshet/store';
import { Publisher } from '@freshet/stream';
import { covers, wantedOf } from '../audit/covered-sources.ts';
import { storedBodies } from '../audit/shard-reading.ts';
import { CannotWork } from '../operator-command.ts';
import { claimEpoch } from '../rebuild/rebuild-plan.ts';
import { type LearntEntity, writeShard } from './write-shard.ts';

interface StoreFactorization {
  readonly session: Session;
  readonly shards: number;
  readonly stack: ClosingStack;
  readonly seed: number;
  readonly passes: number;
  readonly tolerance: number;
  readonly onProgress: (what: string, share: number) => void;
}

const NO_FIGURES = new Float64Array();

interface TakenShard {
  readonly id: ShardId;
  readonly epoch: number;
  readonly state: ShardState;
}

export async function factorizeStore(
  options: StoreFactorization,
): Promise<FactorizeProgress & Record<'ratings' | 'users' | 'items', number>> {
  const { session, stack, seed, passes, tolerance, onProgress } = options;
  await requireStopped(session);
  const publisher = stack.own(await Publisher.open(session.kafka));
  const taken = await takeAll(options, publisher);
  await requireCovered(session, taken);
  const model = await loadModel(options);
  const progress = factorize(model, {
    seed,
    passes,
    tolerance,
    onPass: ({ pass, objective }) =>
      onProgress(`pass ${pass} of ${passes}, objective ${objective.toPrecision(5)}`, pass / passes),
  });
  handOver(model, (share) => onProgress('collecting the evidence of items', share));
  // The clock must not go back: counts that decay would look older than they are.
  model.startClockAt(Math.max(...taken.map(({ state }) => state.facts.clock)));
  for (const [done, shard] of taken.entries()) {
    onProgress(`writing ${shard.id.side} shard ${shard.id.shard}`, done / taken.length);
    await writeTaken(options, model, shard, publisher);
  }
  const { grams, users, items } = model;
  return { ...progress, ratings: grams.ratings, users: users.size, items: items.size };
}

/** Updaters must not run meanwhile: what they learn would be overwritten. */
async function requireStopped({ admin, model }: Session): Promise<void> {
  const groups = sides.map((side) => updaterGroup(model, side));
  const members = await admin.memberCounts(groups);
  const running = [...members.values()].reduce((sum, count) => sum + count, 0);
  if (running === 0) return;
  throw new CannotWork(
    `model "${model}" is in use: ${running} updater stages are running (one that was killed counts for KAFKA_SESSION_MS); stop them first`,
  );
}

/** Takes all shards over. An updater that is started afterwards fences this process. */
async function takeAll(
  { session, shards }: StoreFactorization,
  publisher: Publisher,
): Promise<TakenShard[]> {
  const { store, model } = session;
  const taken: TakenShard[] = [];
  for (const id of shardIds(shards)) {
    const least = (await store.head(id)).fence ?? 0;
    const epoch = await claimEpoch(publisher, model, { key: 'factorize', least });
    taken.push({ id, epoch, state: await store.takeOver(id, epoch) });
  }
  return taken;
}

/** Ratings that user shards have decided and item shards have not applied would count twice. */
async function requireCovered({ admin, model }: Session, taken: readonly TakenShard[]) {
  const statesOf = (side: Side) => taken.filter(({ id }) => id.side === side);
  const topic = topicName('itemRatings', model);
  const users = statesOf('user').map(({ state }) => state);
  const wanted = wantedOf(users, topic, await admin.ends(topic));
  const behind = statesOf('item').filter(({ id, state }) => {
    const each = wanted.get(id.shard);
    assert(each !== undefined, 'every item shard has a partition');
    return !covers(state, each);
  });
  if (behind.length === 0) return;
  throw new CannotWork(
    `${behind.length} item shards have not applied all that the user shards decided: start an updater, wait until there is no lag (freshet sources), stop it and try again`,
  );
}

async function loadModel(options: StoreFactorization): Promise<OnlineModel> {
  const { session, shards, onProgress } = options;
  const model = new OnlineModel(session.modelSettings);
  for (let shard = 0; shard < shards; shard++) {
    onProgress(`reading user shard ${shard}`, shard / shards);
    const id = { side: 'user', shard } as const;
    const users = new Set<string>();
    for await (const [user] of session.store.vectors(id)) users.add(user);
    for await (const [user, row] of storedBodies(session.store, id, [...users])) {
      for (const { neighbour, value, time } of decodeRow(row).values()) {
        if (value !== null) model.record(user, neighbour, value, time);
      }
    }
  }
  if (model.grams.ratings > 0) return model;
  throw new CannotWork(
    `the store knows no rating of model "${session.model}": start an updater, let it read the topics of RATINGS_TOPICS (freshet import FILE --wait sends a file there), stop it and try again`,
  );
}

async function writeTaken(
  { session, shards }: StoreFactorization,
  model: OnlineModel,
  { id, epoch, state }: TakenShard,
  publisher: Publisher,
): Promise<void> {
  const { store, modelSettings } = session;
  const stored = new Map<string, StoredVector>();
  for await (const [name, vector] of store.vectors(id)) stored.set(name, vector);
  const learnt = [...learntEntities(model, id, shards, stored)];
  if (learnt.length === 0 && stored.size === 0) return;
  const write = {
    model: session.model,
    id,
    epoch,
    state,
    factorCount: modelSettings.factorCount,
    clock: id.side === 'item' ? model.grams.clock : 0,
    removed: id.side === 'item' ? without(stored, learnt) : new Map<string, StoredVector>(),
  };
  await publisher.publish([await writeShard(store, write, learnt)]);
}

function* learntEntities(
  model: OnlineModel,
  { side, shard }: ShardId,
  shards: number,
  stored: ReadonlyMap<string, StoredVector>,
): Generator<LearntEntity, void> {
  const state = side === 'user' ? model.users : model.items;
  for (const id of state.ids()) {
    if (shardOf(id, shards) !== shard) continue;
    const slot = state.slotOf(id);
    assert(slot !== undefined, 'every id has a slot');
    const vector = new Float32Array(model.settings.factorCount);
    state.vectors.read(slot, vector);
    const before = stored.get(id);
    if (side === 'user') {
      yield { id, before, after: { vector, figures: NO_FIGURES } };
      continue;
    }
    const list = model.lists?.of(slot).toBytes();
    const after = { vector, figures: model.figuresOf(slot), ...(list ? { list } : {}) };
    const body = model.evidenceOf(id)?.toBytes();
    yield { id, before, after, ...(body === undefined ? {} : { body }) };
  }
}

/** Items that the store holds and no user has rated any more: these are removed. */
function without(
  stored: ReadonlyMap<string, StoredVector>,
  learnt: readonly LearntEntity[],
): Map<string, StoredVector> {
  const rated = new Set(learnt.map(({ id }) => id));
  return new Map([...stored].filter(([id]) => !rated.has(id)));
}
