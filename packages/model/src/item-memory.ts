/** What items of an in-memory model keep of their ratings: evidence, as in services, or rows. */

import type { Descent, Kernels } from '@freshet/kernels';
import { Evidence, type EvidenceChange } from './evidence.ts';
import { EvidenceStep } from './evidence-step.ts';
import type { Grams } from './gram.ts';
import type { Learner } from './learner.ts';
import { itemWeight } from './prior-weight.ts';
import { RowStore } from './row-store.ts';
import type { ModelSettings } from './settings.ts';
import type { SideState } from './side-state.ts';

export class ItemEvidence {
  readonly #step: EvidenceStep;
  readonly #own: Float32Array;
  readonly #evidence: (Evidence | undefined)[] = [];

  constructor(
    kernels: Kernels,
    private readonly settings: ModelSettings,
    private readonly items: SideState,
    private readonly grams: Grams,
  ) {
    this.#step = new EvidenceStep(kernels, settings);
    this.#own = new Float32Array(settings.factorCount);
  }

  /** Estimated memory in bytes. */
  get byteLength(): number {
    return this.#evidence.reduce((sum, evidence) => sum + (evidence?.byteLength ?? 0), 0);
  }

  of(item: number): Evidence {
    const evidence = this.#evidence[item] ?? Evidence.empty(this.settings);
    this.#evidence[item] = evidence;
    return evidence;
  }

  /** Takes in one event. The item's vector does not move yet. */
  amend(item: number, _user: number, change: EvidenceChange, seed: number): void {
    this.of(item).amend(change, seed);
  }

  /** Number of ratings of an item. */
  count(item: number): number {
    return this.of(item).count;
  }

  /** One half-step. Returns the loss of the block before and after. */
  step(item: number): Readonly<Descent> {
    const evidence = this.of(item);
    const weight = itemWeight(this.settings, evidence.count, this.grams);
    this.items.vectors.read(item, this.#own);
    const outcome = this.#step.run(this.#own, evidence, this.grams, weight);
    this.items.move(item, this.#own, weight);
    return outcome;
  }

  forget(item: number): void {
    this.#evidence[item] = undefined;
  }
}

export class ItemRows {
  readonly rows = new RowStore(false);

  constructor(
    private readonly learner: Learner,
    private readonly items: SideState,
    private readonly users: SideState,
    private readonly grams: Grams,
  ) {}

  get byteLength(): number {
    return this.rows.byteLength;
  }

  amend(item: number, user: number, { value, old }: EvidenceChange): void {
    if (old !== null) this.rows.removeAt(item, this.rows.find(item, user));
    if (value !== null) this.rows.insert(item, this.rows.length(item), user, value, 0);
  }

  count(item: number): number {
    return this.rows.length(item);
  }

  step(item: number): Readonly<Descent> {
    return this.learner.step(this.items, this.rows, item, this.users, this.grams);
  }

  forget(item: number): void {
    this.rows.clear(item);
  }
}
