import { describe, expect, it } from 'vitest';
import { Evidence, type EvidenceChange } from './evidence.ts';
import { EvidenceSample } from './evidence-sample.ts';
import { EvidenceSums } from './evidence-sums.ts';
import { hashId, Random } from './random.ts';
import { defaultModel, type LossName, type ModelSettings } from './settings.ts';

const SEED = 4_161;
const K = 5;
const squared: ModelSettings = { ...defaultModel, factorCount: K };
const absolute: ModelSettings = { ...squared, loss: 'absolute' };
const losses: LossName[] = ['squared', 'absolute', 'kullback-leibler'];

function vectorOf(random: Random, k = K): Float32Array {
  return Float32Array.from({ length: k }, () => random.normal());
}

function sumsOf({ form }: Evidence): Float32Array {
  if (!(form instanceof EvidenceSums)) throw new TypeError('no sums');
  return form.sums;
}

function pairsOf({ form }: Evidence): [value: number, vector: number[]][] {
  if (!(form instanceof EvidenceSample)) throw new TypeError('no sample');
  const { pairs } = form;
  return Array.from({ length: pairs.length }, (_, i) => [pairs.valueAt(i), [...pairs.vectorAt(i)]]);
}

/** Takes changes in one by one, with the seeds that a shard would use. */
function fold(evidence: Evidence, changes: readonly EvidenceChange[]): Evidence {
  for (const [offset, change] of changes.entries()) evidence.amend(change, hashId('i1', offset));
  return evidence;
}

function ratings(count: number, seed = SEED): EvidenceChange[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => {
    return { value: random.below(6), old: null, vector: vectorOf(random) };
  });
}

/** A, Σ r·w and Σ w by their definition, in double precision. */
function naive(pairs: readonly { value: number; vector: Float32Array }[]): number[] {
  const triangle: number[] = [];
  for (let row = 0; row < K; row++) {
    for (let col = 0; col <= row; col++) {
      triangle.push(pairs.reduce((sum, { vector }) => sum + vector[row] * vector[col], 0));
    }
  }
  const weighed = (weightOf: (value: number) => number) =>
    Array.from({ length: K }, (_, f) =>
      pairs.reduce((sum, { value, vector }) => sum + weightOf(value) * vector[f], 0),
    );
  return [...triangle, ...weighed((value) => value), ...weighed(() => 1)];
}

function expectNear(actual: Float32Array, expected: readonly number[], count: number): void {
  expect(actual.length).toBe(expected.length);
  // Each rating rounds a cell of A at random, by less than 2^-19 of it: the standard deviation is
  // at most 2^-20 of the largest cell, and grows with the root of the count. The tolerance is five
  // of them; float32 rounding is smaller.
  const room = 5 * 2 ** -20 * Math.sqrt(count) * Math.max(...expected.map(Math.abs));
  actual.forEach((cell, at) => {
    expect(Math.abs(cell - expected[at])).toBeLessThan(room);
  });
}

describe(`evidence in sums (seed ${SEED})`, () => {
  it.each([1, 15, 16, 17, 500])('of %i ratings is its sums by their definition', (count) => {
    const changes = ratings(count);
    const evidence = fold(Evidence.empty(squared), changes);
    expect(evidence.count).toBe(count);
    const pairs = changes.map(({ value, vector }) => ({ value: value ?? 0, vector }));
    expectNear(sumsOf(evidence), naive(pairs), count);
  });

  it('changes Σ r·w alone when a rating changes, by the present vector once it is folded', () => {
    const changes = ratings(40);
    const evidence = fold(Evidence.empty(squared), changes);
    const before = sumsOf(evidence).slice();
    const vector = vectorOf(new Random(1));
    evidence.amend({ value: 1, old: 4, vector }, 0);
    const after = sumsOf(evidence);
    expect(after.subarray(0, -2 * K)).toEqual(before.subarray(0, -2 * K));
    expect(after.subarray(-K)).toEqual(before.subarray(-K));
    vector.forEach((factor, f) => {
      const at = f - 2 * K;
      expect(after.at(at)).toBeCloseTo((before.at(at) ?? 0) - 3 * factor, 5);
    });
    expect(evidence.count).toBe(40);
  });

  it('subtracts the present vector when a folded rating is taken back', () => {
    const changes = ratings(40);
    const evidence = fold(Evidence.empty(squared), changes);
    const [{ value, vector }] = changes;
    evidence.amend({ value: null, old: value, vector }, 0);
    const left = changes.slice(1).map((pair) => ({ value: pair.value ?? 0, vector: pair.vector }));
    expect(evidence.count).toBe(39);
    expectNear(sumsOf(evidence), naive(left), 40);
  });

  it('while pairs are kept, changes or removes the nearest with that value, without a residue', () => {
    const vectors = [
      [1, 0],
      [0, 1],
      [0, 0.9],
    ].map((factors) => Float32Array.from(factors));
    const settings = { ...squared, factorCount: 2 };
    const of = (values: readonly number[], kept: readonly number[]) =>
      fold(
        Evidence.empty(settings),
        kept.map((at) => ({ value: values[at], old: null, vector: vectors[at] })),
      );
    // Two pairs have the value 4. The third is nearer to the current vector, but has another value.
    const near = Float32Array.of(0.1, 0.8);
    const removed = of([4, 4, 5], [0, 1, 2]);
    removed.amend({ value: null, old: 4, vector: near }, 0);
    expect(sumsOf(removed)).toEqual(sumsOf(of([4, 4, 5], [0, 2])));
    const changed = of([4, 4, 5], [0, 1, 2]);
    changed.amend({ value: 2, old: 4, vector: near }, 0);
    expect(sumsOf(changed)).toEqual(sumsOf(of([4, 2, 5], [0, 1, 2])));
    expect(changed.count).toBe(3);
  });

  it.each([3, 40])('of %i ratings pulls to Σ y·w, whatever line gives the targets y', (count) => {
    const changes = ratings(count);
    const { form } = fold(Evidence.empty(squared), changes);
    if (!(form instanceof EvidenceSums)) throw new TypeError('no sums');
    const pull = new Float32Array(K);
    for (const line of [
      { base: 0, slope: 1 },
      { base: 0.75, slope: 0.07 },
      { base: 1, slope: 0 },
    ]) {
      form.pullTo(line, pull);
      pull.forEach((cell, f) => {
        const expected = changes.reduce(
          (sum, { value, vector }) => sum + (line.base + line.slope * (value ?? 0)) * vector[f],
          0,
        );
        expect(cell).toBeCloseTo(expected, 4);
      });
    }
  });

  it('has the same bits however often it was stored in between', () => {
    const random = new Random(SEED);
    const once = Evidence.empty(squared);
    let stored = Evidence.empty(squared);
    const given: EvidenceChange[] = [];
    for (let event = 0; event < 300; event++) {
      const change = randomChange(random, given, 30);
      once.amend(change, event);
      stored = Evidence.fromBytes(stored.toBytes(), squared);
      stored.amend(change, event);
      expect(stored.toBytes()).toEqual(once.toBytes());
      expect(sumsOf(stored)).toEqual(sumsOf(once));
    }
  });

  it('takes 2,112 bytes at k = 32 once it is folded, and one pair after the other before', () => {
    const settings = { ...squared, factorCount: 32 };
    const evidence = Evidence.empty(settings);
    const sizes = Array.from({ length: 40 }, (_, at) => {
      evidence.amend({ value: 3, old: null, vector: vectorOf(new Random(at), 32) }, at);
      return evidence.toBytes().byteLength;
    });
    const pairs = Array.from({ length: 16 }, (_, at) => 8 + 4 * 33 * (at + 1));
    expect(sizes).toEqual([...pairs, ...new Array<number>(24).fill(8 + 1_848 + 256)]);
  });

  it('survives its bytes for every number of factors', () => {
    const random = new Random(SEED);
    for (let k = 1; k <= 256; k++) {
      const settings = { ...squared, factorCount: k };
      const evidence = Evidence.empty(settings);
      for (let at = 0; at < 18; at++) {
        evidence.amend({ value: random.below(6), old: null, vector: vectorOf(random, k) }, at);
      }
      const bytes = evidence.toBytes();
      const cells = (k * (k + 1)) / 2;
      expect(bytes.length).toBe(8 + Math.ceil(3.5 * cells) + 8 * k);
      const restored = sumsOf(Evidence.fromBytes(bytes, settings));
      // `toEqual` would take seconds for this many cells.
      expect(sumsOf(evidence).every((cell, at) => Object.is(cell, restored[at]))).toBe(true);
    }
  });

  it('is still right after 200,000 ratings, where cutting the last bits off would not be', () => {
    const random = new Random(SEED);
    const evidence = Evidence.empty(squared);
    const exact = new Float64Array((K * (K + 1)) / 2);
    const cut = new Float32Array(exact.length);
    const bits = new Int32Array(cut.buffer);
    for (let event = 0; event < 200_000; event++) {
      const vector = vectorOf(random).map((factor) => factor / 10);
      evidence.amend({ value: 3, old: null, vector }, event);
      for (let row = 0, at = 0; row < K; row++) {
        for (let col = 0; col <= row; col++, at++) {
          exact[at] += vector[row] * vector[col];
          cut[at] += vector[row] * vector[col];
          bits[at] &= ~15;
        }
      }
    }
    const size = Math.max(...exact);
    const furthest = (cells: Float32Array) =>
      exact.reduce((most, cell, at) => Math.max(most, Math.abs(cells[at] - cell)), 0) / size;
    // The standard deviation is 2^-19 · √(200,000 / 18) = .0002 of the diagonal at most.
    expect(furthest(sumsOf(evidence))).toBeLessThan(0.001);
    expect(furthest(cut)).toBeGreaterThan(0.03);
  });
});

describe(`evidence in a sample (seed ${SEED})`, () => {
  it('has every pair up to 256 and never more, whatever comes and goes', () => {
    const random = new Random(SEED);
    const evidence = Evidence.empty(absolute);
    const given: EvidenceChange[] = [];
    for (let event = 0; event < 4_000; event++) {
      evidence.amend(randomChange(random, given, 600), hashId('i1', event));
      expect(evidence.count).toBe(given.length);
      const { length } = pairsOf(evidence);
      expect(length).toBeLessThanOrEqual(Math.min(256, given.length));
      if (event < 256) expect(length).toBe(given.length);
    }
    expect(pairsOf(evidence).length).toBeGreaterThan(200);
  });

  it('is decided by the seeds alone', () => {
    const draw = (id: string) => {
      const evidence = Evidence.empty(absolute);
      for (const [offset, change] of ratings(600).entries()) {
        evidence.amend(change, hashId(id, offset));
      }
      return pairsOf(evidence);
    };
    expect(draw('i1')).toEqual(draw('i1'));
    expect(draw('i1')).not.toEqual(draw('i2'));
  });

  it('keeps every rating with the same chance, the first as well as the last', () => {
    const kept = keptByTenth(1_000, () => undefined);
    // Each tenth has 25.6 pairs in the mean of 300 draws; the standard error of that mean is .26.
    for (const mean of kept) expect(Math.abs(mean - 25.6)).toBeLessThan(1.1);
  });

  it('also where ratings were taken back: new ones stand in for them', () => {
    const kept = keptByTenth(1_000, (evidence, at, vector) => {
      // Between the 500th and the 700th rating, every second rating is taken back right after it
      // was added.
      if (at < 500 || at >= 700 || at % 2 === 0) return undefined;
      evidence.amend({ value: null, old: at - 1, vector }, hashId('back', at));
      return at - 1;
    });
    const full = kept.filter((_, tenth) => tenth !== 5 && tenth !== 6);
    // 900 ratings are left, 50 of them in each of the two tenths that lost ratings.
    for (const mean of full) expect(Math.abs(mean - (100 * 256) / 900)).toBeLessThan(2);
  });

  /** Ratings of each tenth in the sample, as a mean of 300 draws. Values are positions. */
  function keptByTenth(
    count: number,
    after: (evidence: Evidence, at: number, vector: Float32Array) => number | undefined,
  ): number[] {
    const draws = 300;
    const kept = new Array<number>(10).fill(0);
    for (let draw = 0; draw < draws; draw++) {
      const evidence = Evidence.empty(absolute);
      for (let at = 0; at < count; at++) {
        const vector = new Float32Array(K).fill(at);
        evidence.amend({ value: at, old: null, vector }, hashId(`i${draw}`, at));
        after(evidence, at, vector);
      }
      for (const [value] of pairsOf(evidence)) kept[Math.floor((10 * value) / count)] += 1 / draws;
    }
    return kept;
  }
});

describe.each(losses)('evidence for the %s loss', (loss) => {
  const settings = { ...squared, loss };

  it.each([0, 1, 16, 17, 256, 257, 400])('of %i ratings survives its bytes', (count) => {
    const evidence = fold(Evidence.empty(settings), ratings(count));
    const bytes = evidence.toBytes();
    // Once in a buffer of its own and once in the middle of another, as a store returns it.
    const inside = new Uint8Array(bytes.byteLength + 7);
    inside.set(bytes, 3);
    for (const given of [bytes, inside.subarray(3, 3 + bytes.byteLength)]) {
      const restored = Evidence.fromBytes(given, settings);
      expect(restored.count).toBe(count);
      expect(restored.toBytes()).toEqual(bytes);
      const next = { value: 2, old: null, vector: vectorOf(new Random(9)) };
      restored.amend(next, 77);
      const expected = fold(Evidence.empty(settings), ratings(count));
      expected.amend(next, 77);
      expect(restored.toBytes()).toEqual(expected.toBytes());
    }
  });

  it.each([5, 40, 400])('of %i ratings is empty again once all are taken back', (count) => {
    const changes = ratings(count);
    const evidence = fold(Evidence.empty(settings), changes);
    const moved = vectorOf(new Random(3));
    for (const { value } of changes) evidence.amend({ value: null, old: value, vector: moved }, 1);
    expect(evidence.count).toBe(0);
    expect(evidence.toBytes()).toEqual(Evidence.empty(settings).toBytes());
    const [first] = changes;
    evidence.amend(first, 0);
    expect(evidence.toBytes()).toEqual(fold(Evidence.empty(settings), [first]).toBytes());
  });

  it('is refused where its length cannot be right', () => {
    for (const count of [0, 3, 16, 17, 300]) {
      const bytes = fold(Evidence.empty(settings), ratings(count)).toBytes();
      for (const length of [0, 7, bytes.length - 1, bytes.length + 4]) {
        const wrong = new Uint8Array(length);
        wrong.set(bytes.subarray(0, length));
        expect(() => Evidence.fromBytes(wrong, settings)).toThrow(RangeError);
      }
    }
  });

  it('tells a cache about how much memory it takes', () => {
    for (const count of [1, 16, 17, 400]) {
      const evidence = fold(Evidence.empty(settings), ratings(count));
      const stored = evidence.toBytes().byteLength;
      expect(evidence.byteLength).toBeGreaterThanOrEqual(stored);
      expect(evidence.byteLength).toBeLessThan(2.5 * stored + 1_000);
    }
  });
});

/** A new rating, or a change or removal of one of `given`, which is updated. */
function randomChange(random: Random, given: EvidenceChange[], about: number): EvidenceChange {
  const isGrowing = given.length < about * random.next() * 2;
  if (given.length === 0 || isGrowing) {
    const change = { value: random.below(6), old: null, vector: vectorOf(random) };
    given.push(change);
    return change;
  }
  const at = random.below(given.length);
  const { value: old, vector } = given[at];
  if (random.next() < 0.7) {
    given.splice(at, 1);
    return { value: null, old, vector };
  }
  given[at] = { value: random.below(6), old: null, vector };
  return { value: given[at].value, old, vector };
}
