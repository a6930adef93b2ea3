/** A store with many users and 100,000 items. Only sizes matter, so vectors and evidence repeat. */
import assert from 'node:assert';
import { Evidence, figuresOf, type ModelSettings, NO_STATISTICS, Random } from '@freshet/model';
import { encodeRow, type FactorStore, type StoredVector } from '@freshet/store';
import { type Entity, StoreFilling } from '../store-filling.ts';

export const ITEMS = 100_000;
export const ROW_LENGTH = 5;
const SEED = 13;
/** How many different vectors and pieces of evidence there are. */
const VARIETY = 64;
/** More than an item keeps as single pairs. */
const RATINGS_OF_ITEM = 40;
/** Spread a user's ratings over the items. */
const STRIDES = [7_919, 104_729] as const;
const TIME = 1_700_000_000_000;

export const userId = (nth: number) => `u${nth}`;
export const itemId = (nth: number) => `i${nth % ITEMS}`;

const NO_FIGURES = new Float64Array();
const FIGURES = figuresOf(1, { ...NO_STATISTICS, count: RATINGS_OF_ITEM });

export class FilledModel {
  readonly #filling: StoreFilling;
  readonly #settings: ModelSettings;
  readonly #vectors: readonly StoredVector[];

  private constructor(filling: StoreFilling, settings: ModelSettings) {
    this.#filling = filling;
    this.#settings = settings;
    const random = new Random(SEED);
    const factor = () => 0.2 * random.next();
    this.#vectors = Array.from({ length: VARIETY }, () => {
      const vector = Float32Array.from({ length: settings.factorCount }, factor);
      return { vector, figures: NO_FIGURES };
    });
  }

  static async begin(
    store: FactorStore,
    settings: ModelSettings,
    shards: number,
  ): Promise<FilledModel> {
    const { factorCount } = settings;
    const options = { factorCount, shards, ratingsOfUser: ROW_LENGTH };
    return new FilledModel(await StoreFilling.begin(store, options), settings);
  }

  async writeUsers(count: number): Promise<void> {
    const entity = (nth: number) => ({ id: userId(nth), stored: this.#vector(nth) });
    await this.#filling.write('user', entities(count, entity));
  }

  async writeRows(count: number): Promise<void> {
    const [near, far] = STRIDES;
    const entity = (nth: number) => {
      const row = Array.from({ length: ROW_LENGTH }, (_, at) => {
        return { neighbour: itemId(near * nth + far * at), value: 4, time: TIME + at };
      });
      return { id: userId(nth), body: encodeRow(row) };
    };
    await this.#filling.write('user', entities(count, entity));
  }

  async writeItems(): Promise<void> {
    const bodies = this.#vectors.map((_, first) => this.#evidence(first));
    const entity = (nth: number) => {
      const stored = { ...this.#vector(nth), figures: FIGURES };
      return { id: itemId(nth), stored, body: atTurn(bodies, nth) };
    };
    await this.#filling.write('item', entities(ITEMS, entity));
  }

  #vector(nth: number): StoredVector {
    return atTurn(this.#vectors, nth);
  }

  #evidence(first: number): Uint8Array {
    const evidence = Evidence.empty(this.#settings);
    for (let nth = 0; nth < RATINGS_OF_ITEM; nth++) {
      const { vector } = this.#vector(first + nth);
      evidence.amend({ value: 4, old: null, vector }, nth);
    }
    return evidence.toBytes();
  }
}

function* entities(count: number, entityOf: (nth: number) => Entity): Generator<Entity, void> {
  for (let nth = 0; nth < count; nth++) yield entityOf(nth);
}

function atTurn<T>(all: readonly T[], nth: number): T {
  const found = all[nth % all.length];
  assert(found !== undefined, 'there is at least one');
  return found;
}
