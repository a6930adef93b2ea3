/**
 * A scorer that serves a model of MovieLens-1M's size, or one of 100,000 items. The model is learnt
 * here and written to the store, and its vectors move while the scorer is measured.
 */
import assert from 'node:assert';
import type { Settings } from '@freshet/config';
import { type Side, shardOf } from '@freshet/events';
import { freePort, untilReady } from '@freshet/local';
import { figuresOf, laterBy, type OnlineModel } from '@freshet/model';
import { encodeRow, type FactorStore } from '@freshet/store';
import type { BenchSystem } from '../pipeline/bench-system.ts';
import { learntModel } from '../score/fixture.ts';
import { StoreFilling } from '../store-filling.ts';
import { type MovedEntity, MovingModel } from './moving-model.ts';

const USERS = 6_040;
/** The model whose items have no successor lists. */
const UNLISTED = 'unlisted';
export const SHAPES = {
  usual: { users: USERS, items: 3_706, ratings: 1_000_000, seed: 4 },
  /** More items than are served: the least popular are never rated. */
  large: { users: USERS, items: 220_000, ratings: 800_000, seed: 5 },
} as const;

/** Paths that ask for the users in turn. */
export const pathOf = (nth: number) => `/v1/recommendations/u${1 + (nth % USERS)}`;

type Shape = (typeof SHAPES)[keyof typeof SHAPES];
type Sides = Readonly<Record<Side, readonly MovedEntity[]>>;

/** Returns the scorer's port. */
export async function serveModel(system: BenchSystem, shape: Shape): Promise<number> {
  const { SHARDS: shards, SCORER_PORT } = system.settings;
  const sides = await serve(system, shape);
  const byShard = (all: readonly MovedEntity[]) =>
    Array.from({ length: shards }, (_, shard) =>
      all.filter(({ id }) => shardOf(id, shards) === shard),
    );
  const moving = { user: byShard(sides.user), item: byShard(sides.item) };
  system.own(await MovingModel.start(system, moving));
  return SCORER_PORT;
}

export interface ServedPorts {
  readonly port: number;
  readonly adminPort: number;
}

/** The same model in two scorers, the second without successor lists. No vector moves. */
export async function serveWithAndWithoutLists(
  system: BenchSystem,
  shape: Shape,
): Promise<[ServedPorts, ServedPorts]> {
  const { settings, local } = system;
  const sides = await serve(system, shape);
  const store = await system.beginModel(UNLISTED);
  const items = sides.item.map(({ id, stored: { vector, figures } }) => {
    return { id, stored: { vector, figures } };
  });
  await fill(store, { ...sides, item: items }, settings);
  const [port, adminPort, aggregatorPort] = [await freePort(), await freePort(), await freePort()];
  const own = {
    MODEL: UNLISTED,
    SCORER_PORT: String(port),
    SCORER_ADMIN_PORT: String(adminPort),
    AGGREGATOR_ADMIN_PORT: String(aggregatorPort),
  };
  await untilReady(local.launchAnother('aggregator', own), aggregatorPort);
  await untilReady(local.launchAnother('scorer', own), adminPort);
  const listed = { port: settings.SCORER_PORT, adminPort: settings.SCORER_ADMIN_PORT };
  return [listed, { port, adminPort }];
}

async function serve({ session, settings, local }: BenchSystem, shape: Shape): Promise<Sides> {
  const model = learntModel(shape, settings.FACTOR_COUNT);
  const sides = { item: [...entities(model, 'item')], user: [...entities(model, 'user')] };
  await fill(session.store, sides, settings);
  for (const name of ['aggregator', 'scorer'] as const) await local.startServices([name]);
  return sides;
}

async function fill(store: FactorStore, sides: Sides, settings: Settings): Promise<void> {
  const { SHARDS: shards, FACTOR_COUNT: factorCount } = settings;
  const filling = await StoreFilling.begin(store, { factorCount, shards });
  for (const side of ['item', 'user'] as const) await filling.write(side, sides[side]);
}

function* entities(model: OnlineModel, side: Side): Generator<MovedEntity> {
  const state = side === 'user' ? model.users : model.items;
  for (const id of state.ids()) {
    const slot = state.slotOf(id);
    assert(slot !== undefined, 'every id has a slot');
    const vector = new Float32Array(model.settings.factorCount);
    state.vectors.read(slot, vector);
    if (side === 'item') {
      const list = model.lists?.of(slot).toBytes();
      const figures = figuresAt(model, slot);
      yield { id, stored: { vector, figures, ...(list ? { list } : {}) } };
    } else {
      const row = Array.from(model.ratingsOf(id), ({ item, value }) => {
        return { neighbour: item, value, time: 0 };
      });
      yield { id, stored: { vector, figures: new Float64Array() }, body: encodeRow(row) };
    }
  }
}

/** What was counted, as if it had happened before the clock of an empty store began. */
function figuresAt({ features, grams }: OnlineModel, slot: number): Float64Array {
  return figuresOf(1, laterBy(-grams.clock, features.statisticsAt(slot)));
}
