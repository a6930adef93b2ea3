/**
 * A scorer that serves a model of MovieLens-1M's size, learnt and written to the store as the stream would
 * have left it, with vectors moving while it is measured.
 */
import { shardOf } from '@freshet/events';
import { generateRatings } from '@freshet/experiments';
import { isReady, startService } from '@freshet/local';
import { defaultModel, factorize, OnlineModel, type Side } from '@freshet/model';
import type { BenchSystem } from '../pipeline/bench-system.ts';
import { type Entity, fillSide } from './fill-store.ts';
import { MovingModel } from './moving-model.ts';

const SHAPE = { users: 6_040, items: 3_706, ratings: 1_000_000, seed: 4 };
const READY_LIMIT_MS = 60_000;

/** Paths that ask for the users in turn. */
export const pathOf = (nth: number) => `/v1/recommendations/u${1 + (nth % SHAPE.users)}`;

/** Returns the scorer's port. */
export async function serveModel(system: BenchSystem): Promise<number> {
  const { session, settings, environment, folder } = system;
  const model = learn(settings.FACTOR_COUNT);
  const sides = { item: [...entities(model, 'item')], user: [...entities(model, 'user')] };
  for (const side of ['item', 'user'] as const) {
    await fillSide(session.store, side, settings.SHARDS, sides[side]);
  }
  const ports = [settings.AGGREGATOR_ADMIN_PORT, settings.SCORER_ADMIN_PORT];
  for (const [nth, name] of (['aggregator', 'scorer'] as const).entries()) {
    const child = startService(name, environment, folder);
    system.own({ close: () => child.stop() });
    await child.until(() => isReady(ports[nth] ?? 0), READY_LIMIT_MS);
  }
  const byShard = (all: readonly Entity[]) =>
    Array.from({ length: settings.SHARDS }, (_, shard) =>
      all.filter(({ id }) => shardOf(id, settings.SHARDS) === shard),
    );
  const moving = { user: byShard(sides.user), item: byShard(sides.item) };
  system.own(await MovingModel.start(system, moving));
  return settings.SCORER_PORT;
}

function learn(factorCount: number): OnlineModel {
  const model = new OnlineModel({ ...defaultModel, factorCount });
  for (const { user, item, value, time } of generateRatings(SHAPE)) {
    model.record(user, item, value, time);
  }
  factorize(model, { seed: 1, passes: 1, tolerance: 0 });
  return model;
}

function* entities(model: OnlineModel, side: Side): Generator<Entity> {
  const state = side === 'user' ? model.users : model.items;
  for (const id of state.ids()) {
    const vector = new Float32Array(model.settings.factorCount);
    state.vectors.read(state.slotOf(id) ?? 0, vector);
    const ratings = side === 'user' ? [...model.ratingsOf(id)] : [];
    yield { id, vector, row: ratings.map(({ item, value }) => ({ neighbour: item, value })) };
  }
}
