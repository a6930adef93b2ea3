/** The vector of a user or an item before its first half-step. */

import type { Grams } from './gram.ts';
import { losses } from './loss.ts';
import { hashId, Random } from './random.ts';
import type { ModelSettings, Side } from './settings.ts';

const salts: Record<Side, number> = { user: 0x75736572, item: 0x6974656d };

/** The mean of a side, or zeros while it is empty. Unknown users get it as their vector. */
export function meanVector(side: Side, grams: Grams, out: Float32Array): void {
  const { sum, count } = grams[side];
  for (let f = 0; f < out.length; f++) out[f] = count > 0 ? sum[f] / count : 0;
}

/**
 * The paper sets one random feature (alg:update, line 1). The mean is a better guess for a new user
 * or item. The noise, seeded by the id, lets a stream learn from an empty store, where all means
 * are zero, which is a saddle point.
 */
export function startVector(
  id: string,
  side: Side,
  grams: Grams,
  settings: ModelSettings,
): Float32Array {
  const random = new Random(hashId(id, salts[side]));
  const k = settings.factorCount;
  const vector = new Float32Array(k);
  const { floor } = losses[settings.loss];
  if (settings.start === 'feature') {
    vector.fill(Math.max(0, floor));
    vector[random.below(k)] = 1;
    return vector;
  }
  meanVector(side, grams, vector);
  const noise = settings.startNoise / Math.sqrt(k);
  for (let f = 0; f < k; f++) vector[f] = Math.max(floor, vector[f] + noise * random.normal());
  return vector;
}
