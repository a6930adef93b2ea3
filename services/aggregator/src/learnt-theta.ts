/**
 * θ, learnt from the lessons of all user shards. The lessons of a shard are sums over everything
 * that it has ever applied; their increase since the last solution goes into the next one. If the
 * store of a shard lost writes, its lessons count again once they exceed what was taken before.
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

/** θ is solved for again once there are so many new ratings. */
const LEAST_EVENTS = 100;
const HEAD_BYTES = 8 * (WEIGHTS + CURVATURES);
const SHARD_BYTES = 8;

export class LearntTheta {
  #solver: CombinerSolver;
  /** By user shard, the lessons that θ already contains. */
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

  get events(): number {
    let events = 0;
    for (const lessons of this.#taken.values()) events += lessons.events;
    return events;
  }

  /** Adds what is new in the lessons; true if θ was solved for again. */
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

  /** What a successor goes on from: θ, the curvature, then each shard with its lessons. */
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

  /** Goes on from another's `toBytes`; false, and no change, if the bytes cannot be that. */
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
