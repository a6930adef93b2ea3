/**
 * From a static factorization to a stream: the evidence that items need for it. Every rating leaves its pair
 * with the vector that the factorization gave its user, then each item takes one half-step on what it has.
 */

import { ItemEvidence } from './item-memory.ts';
import type { OnlineModel } from './online-model.ts';
import { hashId } from './random.ts';

/** After `factorize`, before the first rating of a stream. A model whose items have rows needs none. */
export function handOver(model: OnlineModel, onProgress?: (share: number) => void): void {
  const { memory, users, items, rows, settings } = model;
  if (!(memory instanceof ItemEvidence)) return;
  for (const item of items.slots()) memory.forget(item);
  const vector = new Float32Array(settings.factorCount);
  let done = 0;
  let offset = 0;
  for (const user of users.slots()) {
    users.vectors.read(user, vector);
    for (const { slot, value } of rows.entries(user)) {
      const seed = hashId(items.idOf(slot) ?? '', offset++);
      memory.apply(slot, user, { value, old: null, vector }, seed);
    }
    onProgress?.(++done / users.size);
  }
  for (const item of items.slots()) memory.step(item);
}
