/** Reproducible random numbers: all randomness is seeded by an id or by the caller. */

/** 32-bit FNV-1a over the UTF-16 units of an id, started from a salt. */
export function hashId(id: string, salt: number): number {
  let hash = (0x811c9dc5 ^ salt) >>> 0;
  for (let i = 0; i < id.length; i++) {
    hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  }
  return mix(hash);
}

/** Scrambles the bits of a 32-bit number, so that similar seeds give different streams. */
export function mix(seed: number): number {
  let z = Math.imul(seed ^ (seed >>> 16), 0x85ebca6b);
  z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
  return (z ^ (z >>> 16)) >>> 0;
}

/**
 * Whether the rating at this offset belongs to a sample of 1 in `oneIn` ratings; none does if that
 * is 0. The sample is random, because every N-th offset could coincide with a pattern of the
 * producer, and independent of other random choices for the same offset.
 */
export function isOfSample(offset: number, oneIn: number): boolean {
  return oneIn > 0 && lotOf(offset) * oneIn < 1;
}

/** Uniform in [0, 1). A sample of 1 in N has the lots below 1/N, so samples are nested. */
export function lotOf(offset: number): number {
  return mix(mix(~offset) + 0x9e3779b9) / 2 ** 32;
}

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = mix(seed >>> 0);
  }

  /** Restarts with another seed, without a new object. */
  reseed(seed: number): void {
    this.#state = mix(seed >>> 0);
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    return mix(this.#state) / 2 ** 32;
  }

  /** A whole number in [0, end). */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }

  shuffle(order: Uint32Array): void {
    for (let last = order.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      const kept = order[last];
      order[last] = order[other];
      order[other] = kept;
    }
  }
}
