/**
 * The whole model in memory: both sides, their rows and grams, moved by one rating at a time (alg:update).
 * What the services do to shards across Kafka and Redis, this does in one place; experiments run on it.
 */

import { type Kernels, wasmKernels } from '@freshet/kernels';
import { BadRating, UnknownId } from './errors.ts';
import type { Grams } from './gram.ts';
import { Learner } from './learner.ts';
import { losses } from './loss.ts';
import { defaultModel, type ModelSettings, type Side } from './settings.ts';
import { SideState } from './side-state.ts';
import { meanVector, startVector } from './start-vector.ts';

export interface Rating {
  readonly user: string;
  readonly item: string;
  readonly value: number;
  /** ms */
  readonly time: number;
}

/** What became of a rating: the first of its cell, a later one, or one older than what is known. */
export type Verdict = 'new' | 'changed' | 'stale';

export class OnlineModel {
  readonly settings: ModelSettings;
  readonly kernels: Kernels;
  readonly users: SideState;
  readonly items: SideState;
  readonly grams: Grams;
  readonly #learner: Learner;
  readonly #own: Float32Array;
  /** Per user, when each item was un-rated: an older rating of it must not come back. */
  readonly #unrated = new Map<string, Map<string, number>>();
  /** Events so far: what a source offset is to a shard. */
  #offset = 0;

  constructor(settings: ModelSettings = defaultModel, kernels: Kernels = wasmKernels()) {
    this.#learner = new Learner(kernels, settings);
    this.settings = settings;
    this.kernels = kernels;
    this.users = new SideState('user', kernels, settings.factorCount);
    this.items = new SideState('item', kernels, settings.factorCount);
    this.grams = { user: this.users.gram, item: this.items.gram, ratings: 0 };
    this.#own = new Float32Array(settings.factorCount);
  }

  /** Learns one rating: the user's half-step, then the item's. */
  rate(user: string, item: string, value: number, time: number): Verdict {
    const verdict = this.record(user, item, value, time);
    if (verdict !== 'stale') this.#update(this.#slot('user', user), this.#slot('item', item));
    return verdict;
  }

  /** Learns many: each user's half-step in turn, then one half-step per item for all that came for it. */
  rateBatch(ratings: readonly Rating[]): void {
    for (const { user, item, value, time } of ratings) this.#check(user, item, value, time);
    const touched = new Set<number>();
    for (const { user, item, value, time } of ratings) {
      if (this.record(user, item, value, time) === 'stale') continue;
      this.step('user', this.#slot('user', user));
      touched.add(this.#slot('item', item));
    }
    for (const slot of touched) this.step('item', slot);
  }

  /** Adds a rating to both rows without moving a vector that exists: for loading what is then factorized. */
  record(user: string, item: string, value: number, time: number): Verdict {
    this.#check(user, item, value, time);
    this.#offset++;
    const gone = this.#unrated.get(user)?.get(item);
    if (gone !== undefined && time < gone) return 'stale';
    const owner = this.#slotOrNew('user', user);
    const neighbour = this.#slotOrNew('item', item);
    const known = this.#find(owner, neighbour);
    if (known >= 0 && this.users.rows.timeAt(owner, known) > time) return 'stale';
    if (known >= 0) this.#removeCell(owner, known, neighbour);
    this.users.rows.insert(owner, this.users.rows.positionOf(owner, time), neighbour, value, time);
    this.items.rows.insert(neighbour, this.items.rows.length(neighbour), owner, value, time);
    this.grams.ratings++;
    return known >= 0 ? 'changed' : 'new';
  }

  /** Takes a rating back; what is left without ratings is removed. False if it was not known. */
  unrate(user: string, item: string, time: number): boolean {
    this.#check(user, item, 0, time);
    this.#offset++;
    const owner = this.users.slotOf(user);
    const neighbour = this.items.slotOf(item);
    const known =
      owner === undefined || neighbour === undefined ? -1 : this.#find(owner, neighbour);
    if (owner === undefined || neighbour === undefined || known < 0) {
      this.#bury(user, item, time);
      return false;
    }
    if (this.users.rows.timeAt(owner, known) > time) return false;
    this.#bury(user, item, time);
    this.#removeCell(owner, known, neighbour);
    this.#settle(this.users, owner);
    this.#settle(this.items, neighbour);
    return true;
  }

  /** Removes a user, her ratings and every trace of her in the grams. False if she was not known. */
  forget(user: string): boolean {
    this.#unrated.delete(user);
    const owner = this.users.slotOf(user);
    if (owner === undefined) return false;
    this.#offset++;
    const rated: number[] = [];
    for (let position = 0; position < this.users.rows.length(owner); position++) {
      rated.push(this.users.rows.slotAt(owner, position));
    }
    for (const neighbour of rated) {
      this.items.rows.removeAt(neighbour, this.items.rows.find(neighbour, owner));
    }
    this.grams.ratings -= rated.length;
    this.users.remove(owner);
    for (const neighbour of rated) this.#settle(this.items, neighbour);
    return true;
  }

  /** One descent on one vector; the loss of its block before and after. */
  step(side: Side, slot: number): { readonly before: number; readonly after: number } {
    const others = this.#state(side === 'user' ? 'item' : 'user');
    return this.#learner.step(this.#state(side), slot, others, this.grams, this.#offset);
  }

  /** The predicted rating; an unknown user is answered for by the mean of all. */
  score(user: string, item: string): number {
    const slot = this.#slot('item', item);
    const query = this.vectorOf(user);
    this.items.vectors.read(slot, this.#own);
    return this.kernels.dot(query, this.#own);
  }

  /** out[slot] = the predicted rating of every item, plus `terms[slot]` if given (a trend, a rule). */
  scoreAll(user: string, out: Float32Array, terms?: Float32Array): void {
    this.kernels.scores(this.vectorOf(user), this.items.vectors, out);
    if (terms) for (let slot = 0; slot < this.items.slotEnd; slot++) out[slot] += terms[slot];
  }

  /** A user's vector, or the mean of all users for somebody unknown. */
  vectorOf(user: string): Float32Array {
    const vector = new Float32Array(this.settings.factorCount);
    const slot = this.users.slotOf(user);
    if (slot === undefined) meanVector('user', this.grams, vector);
    else this.users.vectors.read(slot, vector);
    return vector;
  }

  hasRated(user: string, item: string): boolean {
    const owner = this.users.slotOf(user);
    const neighbour = this.items.slotOf(item);
    return owner !== undefined && neighbour !== undefined && this.#find(owner, neighbour) >= 0;
  }

  /** A user's ratings, oldest first; none of somebody unknown. */
  *ratingsOf(user: string): Generator<Rating> {
    const owner = this.users.slotOf(user) ?? -1;
    const length = owner < 0 ? 0 : this.users.rows.length(owner);
    const { rows } = this.users;
    for (let position = 0; position < length; position++) {
      const item = this.items.idOf(rows.slotAt(owner, position)) ?? '';
      const value = rows.valueAt(owner, position);
      yield { user, item, value, time: rows.timeAt(owner, position) };
    }
  }

  /** alg:update: user and item in turn until a round no longer helps; the streaming form has one round. */
  #update(owner: number, neighbour: number): void {
    const { updateRounds, updateTolerance } = this.settings;
    for (let round = 0; round < updateRounds; round++) {
      const ofUser = this.step('user', owner);
      let before = ofUser.before;
      let after = ofUser.after;
      const ofItem = this.step('item', neighbour);
      before += ofItem.before;
      after += ofItem.after;
      if (before - after <= updateTolerance * Math.abs(before)) break;
    }
  }

  /** Where the user's row has the item, or −1; the shorter of the two rows is asked first. */
  #find(owner: number, neighbour: number): number {
    if (this.items.rows.length(neighbour) < this.users.rows.length(owner)) {
      if (this.items.rows.find(neighbour, owner) < 0) return -1;
    }
    return this.users.rows.find(owner, neighbour);
  }

  #removeCell(owner: number, position: number, neighbour: number): void {
    this.users.rows.removeAt(owner, position);
    this.items.rows.removeAt(neighbour, this.items.rows.find(neighbour, owner));
    this.grams.ratings--;
  }

  /** After a rating went: descend on what is left, or remove what has nothing left. */
  #settle(state: SideState, slot: number): void {
    if (state.rows.length(slot) === 0) state.remove(slot);
    else this.step(state.side, slot);
  }

  #bury(user: string, item: string, time: number): void {
    const graves = this.#unrated.get(user) ?? new Map<string, number>();
    graves.set(item, Math.max(time, graves.get(item) ?? time));
    this.#unrated.set(user, graves);
  }

  #state(side: Side): SideState {
    return side === 'user' ? this.users : this.items;
  }

  #slot(side: Side, id: string): number {
    const slot = this.#state(side).slotOf(id);
    if (slot === undefined) throw new UnknownId(`no ${side} ${id}`);
    return slot;
  }

  #slotOrNew(side: Side, id: string): number {
    const state = this.#state(side);
    return state.slotOf(id) ?? state.add(id, startVector(id, side, this.grams, this.settings));
  }

  #check(user: string, item: string, value: number, time: number): void {
    if (user === '' || item === '') throw new BadRating('an id is empty');
    if (!Number.isFinite(Math.fround(value)))
      throw new BadRating(`a rating must be finite, not ${value}`);
    if (!Number.isFinite(time)) throw new BadRating(`a time must be finite, not ${time}`);
    if (value < 0 && losses[this.settings.loss].floor >= 0) {
      throw new BadRating(`the ${this.settings.loss} loss takes no negative rating (${value})`);
    }
  }
}
