/**
 * A scorer that serves a model of MovieLens-1M's size, or one of 100,000 items, learnt and written to the store as the
 * stream would have left it, with vectors moving while it is measured.
 */
import { shardOf } from '@freshet/events';
import { isReady, startService } from '@freshet/local';
import { figuresOf, laterBy, type OnlineModel, type Side } from '@freshet/model';
import type { BenchSystem } from '../pipeline/bench-system.ts';
import { learntModel } from '../score/fixture.ts';
import { type Entity, fillSide } from './fill-store.ts';
import { MovingModel } from './moving-model.ts';

const USERS = 6_040;
export const SHAPES = {
  usual: { users: USERS, items: 3_706, ratings: 1_000_000, seed: 4 },
  /** More items than are served: the least popular are never rated. */
  large: { users: USERS, items: 220_000, ratings: 800_000, seed: 5 },
} as const;
const READY_LIMIT_MS = 60_000;

/** Paths that ask for the users in turn. */
export const pathOf = (nth: number) => `/v1/recommendations/u${1 + (nth % USERS)}`;

/** Returns the scorer's port. */
export async function serveModel(
  system: BenchSystem,
  shape: (typeof SHAPES)[keyof typeof SHAPES],
): Promise<number> {
  const { session, settings, environment, folder } = system;
  const model = learntModel(shape, settings.FACTOR_COUNT);
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

function* entities(model: OnlineModel, side: Side): Generator<Entity> {
  const state = side === 'user' ? model.users : model.items;
  for (const id of state.ids()) {
    const slot = state.slotOf(id) ?? 0;
    const vector = new Float32Array(model.settings.factorCount);
    state.vectors.read(slot, vector);
    if (side === 'item') {
      const list = model.lists?.of(slot).toBytes();
      yield { id, vector, figures: figuresAt(model, slot), row: [], ...(list ? { list } : {}) };
    } else {
      const row = Array.from(model.ratingsOf(id), ({ item, value }) => ({
        neighbour: item,
        value,
      }));
      yield { id, vector, figures: new Float64Array(), row };
    }
  }
}

/** What was counted, as if it had happened before the clock of an empty store began. */
function figuresAt({ features, grams }: OnlineModel, slot: number): Float64Array {
  return figuresOf(1, laterBy(-grams.clock, features.statisticsAt(slot)));
}
