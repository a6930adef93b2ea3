/**
 * The whole model in memory, updated by one rating at a time (alg:update), for experiments: it does
 * in one process what the services do with shards, Kafka and Redis.
 */

import { type Descent, type Kernels, wasmKernels } from '@freshet/kernels';
import { firstTheta, RankingQuery } from './combiner.ts';
import { CombinerSolver } from './combiner-solver.ts';
import { type ComparedItems, Comparison } from './comparison.ts';
import type { Evidence } from './evidence.ts';
import { NEWEST_RATINGS, userBias } from './expected-value.ts';
import { FeatureTable } from './feature-table.ts';
import type { Grams } from './gram.ts';
import { askedOf, ItemLists } from './item-lists.ts';
import { ItemEvidence, ItemRows } from './item-memory.ts';
import {
  type CountedRating,
  figuresOf,
  laterBy,
  NEWCOMER_BELOW,
  NO_STATISTICS,
  withRating,
} from './item-statistics.ts';
import { type Decision, judge, type KnownCell } from './judge.ts';
import { Learner } from './learner.ts';
import { Lessons } from './lessons.ts';
import { losses } from './loss.ts';
import { NextContext, nextFeature } from './next-context.ts';
import { slotsOf } from './raised-items.ts';
import { hashId, mix } from './random.ts';
import { Rater } from './rater.ts';
import { RowStore } from './row-store.ts';
import { emptyRow } from './row-window.ts';
import { defaultModel, type ModelSettings, type Side } from './settings.ts';
import { SideState } from './side-state.ts';
import { meanVector, startVector } from './start-vector.ts';
import { Tombstones } from './tombstones.ts';

/** The slots of a user and an item, if known, and the item's position in her row, or −1. */
interface CellPlace {
  readonly owner: number | undefined;
  readonly neighbour: number | undefined;
  readonly position: number;
}

/** θ takes a Newton step after this many ratings. */
const RATINGS_PER_SOLUTION = 100;

export class OnlineModel {
  readonly settings: ModelSettings;
  readonly kernels: Kernels;
  readonly users: SideState;
  readonly items: SideState;
  /** The ratings of each user, in the order of their times. */
  readonly rows = new RowStore(true);
  readonly memory: ItemEvidence | ItemRows;
  readonly grams: Grams;
  /** Statistics and features of each item, by slot. */
  readonly features = new FeatureTable();
  /** The predecessor lists; undefined if the settings turn them off. */
  readonly lists: ItemLists | undefined;
  readonly combiner: CombinerSolver;
  readonly #lessons = new Lessons();
  readonly #comparison: Comparison;
  readonly #compared: ComparedItems;
  readonly #rater: Rater;
  readonly #query: RankingQuery;
  readonly #context = new NextContext();
  readonly #newest = { ...emptyRow(NEWEST_RATINGS), start: 0 };
  readonly #learner: Learner;
  /** A user's vector before an event moves it. */
  readonly #before: Float32Array;
  readonly #unrated = new Tombstones();
  /** Number of events so far; it takes the role that the source offset has in a shard. */
  #offset = 0;

  constructor(settings: ModelSettings = defaultModel, kernels: Kernels = wasmKernels()) {
    this.#learner = new Learner(kernels, settings);
    this.settings = settings;
    this.kernels = kernels;
    this.users = new SideState('user', kernels, settings.factorCount);
    this.items = new SideState('item', kernels, settings.factorCount);
    this.combiner = new CombinerSolver(firstTheta(settings.ranking));
    const { theta } = this.combiner;
    const counts = { ratings: 0, values: 0, clock: 0 };
    this.grams = { user: this.users.gram, item: this.items.gram, ...counts, theta };
    this.memory =
      settings.items === 'evidence'
        ? new ItemEvidence(kernels, settings, this.items, this.grams)
        : new ItemRows(this.#learner, this.items, this.users, this.grams);
    this.#before = new Float32Array(settings.factorCount);
    this.#comparison = new Comparison(kernels, settings);
    const isPresent = (slot: number) => this.items.idOf(slot) !== undefined;
    const { features } = this;
    this.lists =
      settings.nextItems === 'lists' ? new ItemLists(kernels, this.items, features) : undefined;
    const asked = askedOf(this.lists);
    this.#compared = { ...asked, table: this.items.vectors, features, isPresent };
    this.#rater = new Rater(this.users, this.rows, this.#before);
    this.#query = new RankingQuery(settings.factorCount);
  }

  /** Learns one rating: the user's half-step, then the item's. */
  rate(user: string, item: string, value: number, time: number): Decision['kind'] {
    const cell = this.#find(user, item);
    const { owner } = cell;
    const byNewcomer = owner === undefined || this.rows.length(owner) < NEWCOMER_BELOW;
    const bias = owner === undefined ? 0 : this.biasOf(owner);
    const before =
      owner === undefined
        ? this.lists && []
        : this.lists?.before(this.rows, owner, this.rows.positionOf(owner, time));
    this.#teach(cell);
    const decision = this.#take(user, item, value, time, cell);
    if (decision.kind === 'stale') return decision.kind;
    const slot = cell.neighbour ?? this.#slot('item', item);
    this.#update(owner ?? this.#slot('user', user), slot);
    const old = decision.kind === 'changed' ? decision.old : null;
    this.count(slot, { value, old, byNewcomer, userBias: bias });
    if (before !== undefined && old === null) this.lists?.count(slot, before);
    return decision.kind;
  }

  /** Advances the clock, for a catalogue of `items` items, and updates the item's statistics. */
  count(item: number, rating: CountedRating, items = this.items.size): void {
    this.grams.clock += 1 / Math.max(1, items);
    const before = this.features.statisticsAt(item);
    this.features.set(item, withRating(before, rating, this.grams.clock));
  }

  /** Moves the clock and all statistics forward to `clock`. It never moves back. */
  startClockAt(clock: number): void {
    const passed = clock - this.grams.clock;
    if (!(passed > 0)) return;
    for (const slot of this.items.slots()) {
      this.features.set(slot, laterBy(passed, this.features.statisticsAt(slot)));
    }
    this.grams.clock = clock;
    this.features.moveTo(clock);
  }

  /** The numbers stored with the vector of an item. */
  figuresOf(item: number): Float64Array {
    return figuresOf(this.items.weightOf(item), this.features.statisticsAt(item));
  }

  /** Takes a rating in without moving existing vectors, to load ratings before a factorization. */
  record(user: string, item: string, value: number, time: number): Decision['kind'] {
    return this.#take(user, item, value, time, this.#find(user, item)).kind;
  }

  #take(user: string, item: string, value: number, time: number, cell: CellPlace): Decision {
    this.#check(user, item, value, time);
    const offset = this.#offset++;
    const decision = judge({ value, time }, this.#knownCell(user, item, cell));
    if (decision.kind === 'stale') return decision;
    const owner = cell.owner ?? this.#start('user', user);
    const neighbour = cell.neighbour ?? this.#start('item', item);
    const old = decision.kind === 'changed' ? decision.old : null;
    if (old === null) this.#unrated.remove(user, item);
    else this.rows.removeAt(owner, cell.position);
    this.rows.insert(owner, this.rows.positionOf(owner, time), neighbour, value, time);
    this.users.vectors.read(owner, this.#before);
    const change = { value, old, vector: this.#before };
    this.memory.amend(neighbour, owner, change, hashId(item, offset));
    this.grams.values += value - (old ?? 0);
    if (old === null) this.grams.ratings++;
    return decision;
  }

  /** Takes a rating back and removes users and items without ratings. False if it was unknown. */
  unrate(user: string, item: string, time: number): boolean {
    this.#check(user, item, 0, time);
    const offset = this.#offset++;
    const cell = this.#find(user, item);
    const { owner, neighbour, position } = cell;
    const decision = judge({ value: null, time }, this.#knownCell(user, item, cell));
    if (decision.kind === 'stale') return false;
    this.#unrated.put(user, item, time);
    if (decision.kind !== 'removed' || owner === undefined || neighbour === undefined) return false;
    const before = this.lists?.before(this.rows, owner, position);
    this.rows.removeAt(owner, position);
    this.#takeBack(owner, neighbour, decision.old, offset);
    if (before !== undefined) this.lists?.takeBack(neighbour, before);
    if (this.rows.length(owner) === 0) this.#removeUser(owner);
    else this.step('user', owner);
    this.#settleItem(neighbour);
    return true;
  }

  /** Removes a user, her ratings and her share of the grams. Returns false if she is unknown. */
  forget(user: string): boolean {
    this.#unrated.removeAll(user);
    const owner = this.users.slotOf(user);
    if (owner === undefined) return false;
    const offset = this.#offset++;
    const rated = [...this.rows.entries(owner)];
    rated.forEach(({ slot, value }, position) => {
      this.#takeBack(owner, slot, value, offset);
      this.lists?.takeBack(slot, this.lists.before(this.rows, owner, position));
    });
    this.#removeUser(owner);
    for (const { slot } of rated) this.#settleItem(slot);
    return true;
  }

  /** One half-step on one vector. Returns the loss of its block before and after. */
  step(side: Side, slot: number): Readonly<Descent> {
    return side === 'user'
      ? this.#learner.step(this.users, this.rows, slot, this.items, this.grams)
      : this.memory.step(slot);
  }

  /** w·h; an unknown user has the mean of all users as her vector. */
  score(user: string, item: string): number {
    const slot = this.#slot('item', item);
    const vector = new Float32Array(this.settings.factorCount);
    this.items.vectors.read(slot, vector);
    return this.kernels.dot(this.vectorOf(user), vector);
  }

  /** out[slot] = the score of every item for a user. */
  scoreAll(user: string, out: Float32Array): void {
    const query = this.#query;
    const slot = this.users.slotOf(user);
    const row = slot === undefined ? 0 : this.rows.length(slot);
    const vector = slot === undefined ? undefined : this.vectorOf(user);
    query.prepare(this.grams, vector, row);
    this.kernels.scores(query.vector, this.items.vectors, out);
    this.features.addWeighted(query.counts, out);
    if (this.lists === undefined || !(query.next > 0)) return;
    this.#rater.row.owner = slot;
    this.#context.prepare(this.#rater.row, this.lists);
    const { successors } = this.lists;
    const sums = successors.after(this.#context);
    for (const slot of slotsOf(sums)) out[slot] += query.next * nextFeature(sums.sumOf(slot));
  }

  /** A user's vector, or the mean of all users if she is unknown. */
  vectorOf(user: string): Float32Array {
    const vector = new Float32Array(this.settings.factorCount);
    const slot = this.users.slotOf(user);
    if (slot === undefined) meanVector('user', this.grams, vector);
    else this.users.vectors.read(slot, vector);
    return vector;
  }

  /** The bias a: by how much the values of a user exceed what others give the same items. */
  biasOf(user: number, rows = this.rows): number {
    const row = this.#newest;
    row.length = Math.min(rows.length(user), row.slots.length);
    rows.copyNewest(user, row);
    const mean = this.meanValue;
    return userBias(row, mean, (slot) => this.features.biasAt(slot, mean));
  }

  /** r̄, the mean of all values. */
  get meanValue(): number {
    return this.grams.ratings > 0 ? this.grams.values / this.grams.ratings : 0;
  }

  /** The evidence of an item; undefined if it is unknown or if items have rows. */
  evidenceOf(item: string): Evidence | undefined {
    const slot = this.items.slotOf(item);
    return slot !== undefined && this.memory instanceof ItemEvidence
      ? this.memory.of(slot)
      : undefined;
  }

  hasRated(user: string, item: string): boolean {
    return this.#find(user, item).position >= 0;
  }

  /** A user's ratings, oldest first; none if she is unknown. */
  *ratingsOf(user: string) {
    const owner = this.users.slotOf(user);
    if (owner === undefined) return;
    for (const { slot, value, time } of this.rows.entries(owner)) {
      yield { user, item: this.items.idIn(slot), value, time };
    }
  }

  /** Lets θ learn from the first rating of a known item by a user, before the rating is learnt. */
  #teach({ neighbour, position }: CellPlace): void {
    if (this.settings.ranking === 'factors') return;
    if (neighbour !== undefined && position < 0) {
      const [rater, seed] = [this.#rater, mix(this.#offset)];
      const isDrawn = this.#comparison.draw(rater, neighbour, this.#compared, this.grams, seed);
      if (isDrawn) this.#comparison.teach(this.#lessons);
    }
    this.features.moveTo(this.grams.clock);
    if (this.#offset % RATINGS_PER_SOLUTION === 0) {
      this.#lessons.events = RATINGS_PER_SOLUTION;
      this.combiner.take(this.#lessons);
      this.#lessons.clear();
    }
  }

  /** alg:update: half-steps of user and item in turn while they help; one round by default. */
  #update(owner: number, neighbour: number): void {
    const { updateRounds, updateTolerance } = this.settings;
    for (let round = 0; round < updateRounds; round++) {
      const ofUser = this.step('user', owner);
      let { before, after } = ofUser;
      const ofItem = this.step('item', neighbour);
      before += ofItem.before;
      after += ofItem.after;
      if (before - after <= updateTolerance * Math.abs(before)) break;
    }
  }

  /** Looks both up and makes the user the rater. */
  #find(user: string, item: string): CellPlace {
    const owner = this.users.slotOf(user);
    const neighbour = this.items.slotOf(item);
    this.#rater.setUser(owner);
    const isKnown = owner !== undefined && neighbour !== undefined;
    return { owner, neighbour, position: isKnown ? this.rows.find(owner, neighbour) : -1 };
  }

  #knownCell(user: string, item: string, { owner, position }: CellPlace): KnownCell | undefined {
    if (owner !== undefined && position >= 0) {
      return { value: this.rows.valueAt(owner, position), time: this.rows.timeAt(owner, position) };
    }
    const gone = this.#unrated.timeOf(user, item);
    return gone === undefined ? undefined : { value: null, time: gone };
  }

  #takeBack(owner: number, neighbour: number, old: number, offset: number): void {
    this.users.vectors.read(owner, this.#before);
    const seed = hashId(this.items.idIn(neighbour), offset);
    this.memory.amend(neighbour, owner, { value: null, old, vector: this.#before }, seed);
    this.grams.ratings--;
    this.grams.values -= old;
    const taken = { value: null, old, byNewcomer: false, userBias: this.biasOf(owner) };
    const before = this.features.statisticsAt(neighbour);
    this.features.set(neighbour, withRating(before, taken, this.grams.clock));
  }

  #removeUser(owner: number): void {
    this.rows.clear(owner);
    this.users.remove(owner);
  }

  /** After a rating was taken back: a half-step, or the removal of an item without ratings. */
  #settleItem(slot: number): void {
    if (this.memory.count(slot) > 0) return void this.step('item', slot);
    this.memory.forget(slot);
    this.features.set(slot, NO_STATISTICS);
    this.lists?.forget(slot);
    this.items.remove(slot);
  }

  #slot(side: Side, id: string): number {
    const slot = (side === 'user' ? this.users : this.items).slotOf(id);
    if (slot === undefined) throw new RangeError(`no ${side} ${id}`);
    return slot;
  }

  #start(side: Side, id: string): number {
    const state = side === 'user' ? this.users : this.items;
    return state.add(id, startVector(id, side, this.grams, this.settings));
  }

  #check(user: string, item: string, value: number, time: number): void {
    if (user === '' || item === '') throw new RangeError('bad rating: an id is empty');
    if (!Number.isFinite(Math.fround(value)))
      throw new RangeError(`bad rating: the value must be finite, not ${value}`);
    if (!Number.isFinite(time))
      throw new RangeError(`bad rating: the time must be finite, not ${time}`);
    if (value < 0 && losses[this.settings.loss].floor >= 0) {
      throw new RangeError(
        `bad rating: ${value} is negative, which the ${this.settings.loss} loss does not allow`,
      );
    }
  }
}
