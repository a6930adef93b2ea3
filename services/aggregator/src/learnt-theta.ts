/**
 * θ as all shards together have taught it. Each shard's lessons are sums over everything it has ever applied; what
 * is new in them since they were last looked at goes into the next solution. A shard whose lessons went back, since
 * its store did, teaches nothing until it is past where it was.
 */
import {
  CombinerSolver,
  CURVATURES,
  firstTheta,
  LESSONS_BYTES,
  Lessons,
  type ModelSettings,
  WEIGHTS,
} from '@freshet/model';

/** Ratings that must be new before θ is solved for again. */
const LEAST_EVENTS = 100;
const HEAD_BYTES = 8 * (WEIGHTS + CURVATURES);
const SHARD_BYTES = 8;

export class LearntTheta {
  #solver: CombinerSolver;
  /** By user shard: what is in θ already. */
  readonly #taken = new Map<number, Lessons>();

  constructor(readonly ranking: ModelSettings['ranking']) {
    this.#solver = new CombinerSolver(firstTheta(ranking));
  }

  get theta(): Float64Array {
    return this.#solver.theta;
  }

  get curvature(): Float64Array {
    return this.#solver.curvature;
  }

  /** Ratings that are in θ. */
  get events(): number {
    let events = 0;
    for (const lessons of this.#taken.values()) events += lessons.events;
    return events;
  }

  /** Takes in what is new; true if θ has moved. */
  learn(parts: Iterable<readonly [shard: number, lessons: Lessons]>): boolean {
    if (this.ranking === 'factors') return false;
    const news = new Lessons();
    const ahead: (readonly [number, Lessons])[] = [];
    for (const [shard, lessons] of parts) {
      const before = this.#taken.get(shard) ?? new Lessons();
      if (lessons.events <= before.events) continue;
      news.include(lessons.since(before));
      ahead.push([shard, lessons]);
    }
    if (news.events < LEAST_EVENTS) return false;
    for (const [shard, lessons] of ahead) this.#taken.set(shard, lessons);
    this.#solver.take(news);
    return true;
  }

  /** What a next aggregator goes on from: θ, the curvature, then each shard with its lessons. */
  toBytes(): Uint8Array {
    const bytes = new Uint8Array(HEAD_BYTES + this.#taken.size * (SHARD_BYTES + LESSONS_BYTES));
    const head = new Float64Array(bytes.buffer, 0, WEIGHTS + CURVATURES);
    head.set(this.#solver.theta);
    head.set(this.#solver.curvature, WEIGHTS);
    let at = HEAD_BYTES;
    for (const [shard, lessons] of this.#taken) {
      new DataView(bytes.buffer).setFloat64(at, shard, true);
      bytes.set(lessons.toBytes(), at + SHARD_BYTES);
      at += SHARD_BYTES + LESSONS_BYTES;
    }
    return bytes;
  }

  /** Goes on from where another has come to; what cannot be that is left alone. */
  restore(bytes: Uint8Array): boolean {
    const rest = bytes.length - HEAD_BYTES;
    if (this.ranking === 'factors' || rest < 0 || rest % (SHARD_BYTES + LESSONS_BYTES) !== 0)
      return false;
    const copy = new Uint8Array(bytes);
    const head = new Float64Array(copy.buffer, 0, WEIGHTS + CURVATURES);
    if (!head.every(Number.isFinite)) return false;
    this.#solver = new CombinerSolver(head.slice(0, WEIGHTS), head.slice(WEIGHTS));
    this.#taken.clear();
    for (let at = HEAD_BYTES; at < copy.length; at += SHARD_BYTES + LESSONS_BYTES) {
      const shard = new DataView(copy.buffer).getFloat64(at, true);
      const lessons = copy.subarray(at + SHARD_BYTES, at + SHARD_BYTES + LESSONS_BYTES);
      this.#taken.set(shard, Lessons.fromBytes(lessons));
    }
    return true;
  }
}
