/**
 * How far an item shard has applied what one user shard sent: the life of the source, the offset in it,
 * and the place among the entries of that offset. What is not above the mark is a repetition.
 */
export interface SourceMark {
  readonly life: number;
  readonly offset: number;
  readonly ordinal: number;
}

const NOTHING: SourceMark = { life: 0, offset: -1, ordinal: -1 };

export function parseSourceMark(text: string | undefined): SourceMark {
  if (text === undefined) return NOTHING;
  const [life = 0, offset = -1, ordinal = -1] = text.split(':').map(Number);
  return { life, offset, ordinal };
}

export function sourceMark({ life, offset, ordinal }: SourceMark): string {
  return `${life}:${offset}:${ordinal}`;
}

export function isAbove(mark: SourceMark, other: SourceMark): boolean {
  if (mark.life !== other.life) return mark.life > other.life;
  if (mark.offset !== other.offset) return mark.offset > other.offset;
  return mark.ordinal > other.ordinal;
}
