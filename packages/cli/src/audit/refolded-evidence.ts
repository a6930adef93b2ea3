/**
 * Computes the evidence and the lists of an item shard again from its log, by applying every entry
 * that user shards sent, in order and once. The result must equal what is stored, byte for byte.
 */
import type { CheckedItemRatings, PackedRating } from '@freshet/events';
import { Evidence, evidenceSeed, type ModelSettings, Predecessors } from '@freshet/model';
import { countsInLife, isAbove, NO_MARK, type SourceMark } from '@freshet/store';
import type { LogRange } from '@freshet/stream';
import type { Findings } from './check.ts';
import { nameOf } from './shard-checks.ts';
import type { ShardReading } from './shard-reading.ts';

const NO_LIST = new Uint8Array();

export class RefoldedEvidence {
  readonly #items = new Map<string, { readonly evidence: Evidence; readonly list: Predecessors }>();
  readonly #marks = new Map<number, SourceMark>();

  constructor(
    private readonly reading: ShardReading,
    private readonly settings: ModelSettings,
  ) {}

  get size(): number {
    return this.#items.size;
  }

  /** Applies a record of the log. The shard has not applied records at its position or later. */
  receive(offset: number, { sourceShard, life, ratings }: CheckedItemRatings): void {
    const { position, facts } = this.reading.state;
    if (offset >= (position ?? 0) || !countsInLife(facts, String(sourceShard), life)) return;
    let mark = this.#marks.get(sourceShard) ?? NO_MARK;
    for (const rating of ratings) {
      const { sourceOffset, ordinal } = rating;
      const place = { life, offset: sourceOffset, ordinal };
      if (!isAbove(place, mark)) continue;
      mark = { ...mark, ...place };
      this.#apply(rating);
    }
    this.#marks.set(sourceShard, mark);
  }

  compare(findings: Findings): void {
    const { id, bodies, vectors } = this.reading;
    for (const [item, { evidence, list }] of this.#items) {
      const where = `${nameOf(id)}, item ${JSON.stringify(item)}`;
      const stored = bodies.get(item);
      if (stored === undefined) {
        findings.violation(`${where}: the log has ${evidence.count} ratings, the store nothing`);
      } else if (Buffer.compare(stored, evidence.toBytes()) !== 0) {
        findings.violation(`${where}: the stored evidence is not what the log adds up to`);
      } else if (Buffer.compare(vectors.get(item)?.list ?? NO_LIST, list.toBytes()) !== 0) {
        findings.violation(`${where}: the stored list is not what the log adds up to`);
      }
    }
    for (const item of bodies.keys()) {
      if (this.#items.has(item)) continue;
      findings.violation(`${nameOf(id)}, item ${JSON.stringify(item)}: nothing of it in the log`);
    }
  }

  #apply({ item, value, old, vector, before, sourceOffset }: PackedRating): void {
    const kept = this.#items.get(item) ?? {
      evidence: Evidence.empty(this.settings),
      list: Predecessors.empty(),
    };
    kept.evidence.amend({ value, old, vector }, evidenceSeed(item, sourceOffset));
    if (value === null) kept.list.takeBack(before);
    else if (old === null) kept.list.count(before);
    if (kept.evidence.count > 0) this.#items.set(item, kept);
    else this.#items.delete(item);
  }
}

/** Why the content of the shard cannot be computed from its log; undefined if it can. */
export function whyNotRefolded(
  { state: { facts } }: ShardReading,
  range: LogRange,
  topicId: string | undefined,
): string | undefined {
  if (range.start > 0) return 'the beginning of its log is deleted';
  if (facts.factorized !== null) return 'freshet factorize has replaced its evidence';
  if (facts.accepted.length > 0) return 'a loss of its log was accepted';
  const isOther = topicId !== undefined && facts.topicId !== null && facts.topicId !== topicId;
  return isOther ? 'its topic was created anew' : undefined;
}
