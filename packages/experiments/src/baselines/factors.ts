/**
 * The vectors of one side of a baseline, one after another in one array, and their inner products.
 */
import type { Random } from '@freshet/model';

export class Factors {
  readonly k: number;
  readonly data: Float32Array;

  constructor(count: number, k: number) {
    this.k = k;
    this.data = new Float32Array(count * k);
  }

  static normal(count: number, k: number, scale: number, random: Random): Factors {
    const factors = new Factors(count, k);
    for (let i = 0; i < factors.data.length; i++) factors.data[i] = scale * random.normal();
    return factors;
  }

  static positive(count: number, k: number, scale: number, random: Random): Factors {
    const factors = new Factors(count, k);
    for (let i = 0; i < factors.data.length; i++) factors.data[i] = scale * (0.1 + random.next());
    return factors;
  }

  dot(own: number, others: Factors, other: number): number {
    const { k, data } = this;
    const a = own * k;
    const b = other * k;
    let sum = 0;
    for (let f = 0; f < k; f++) sum += data[a + f] * others.data[b + f];
    return sum;
  }
}

/**
 * out[j] = own · others[j]. Four sums side by side: the additions then need not wait for each
 * other.
 */
export function innerProducts(own: Float32Array, others: Factors, out: Float32Array): void {
  const { k, data } = others;
  const whole = k - (k % 4);
  for (let j = 0, at = 0; j < out.length; j++, at += k) {
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let f = 0; f < whole; f += 4) {
      a += own[f] * data[at + f];
      b += own[f + 1] * data[at + f + 1];
      c += own[f + 2] * data[at + f + 2];
      d += own[f + 3] * data[at + f + 3];
    }
    for (let f = whole; f < k; f++) a += own[f] * data[at + f];
    out[j] = a + b + (c + d);
  }
}
