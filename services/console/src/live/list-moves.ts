/** How did a rating change a list? Compares the place of each item with its place before. */
import type { ScoredItem } from '@freshet/events';

export type Listed = ScoredItem;

export interface Moved extends Listed {
  /** Places gained (positive) or lost (negative); null if the item is new on the list. */
  readonly gained: number | null;
  /** The name of the item just rated, if this item moved up because it comes after that one. */
  readonly after?: string;
}

/** The item that was just rated, and the items that users often rate after it. */
export interface JustRated {
  readonly name: string;
  readonly followers: ReadonlySet<string>;
}

export function moves(
  before: readonly Listed[],
  after: readonly Listed[],
  { name, followers }: JustRated,
): Moved[] {
  const places = new Map(before.map(({ item }, place) => [item, place]));
  return after.map((listed, place) => {
    const was = places.get(listed.item);
    const gained = was === undefined ? null : was - place;
    const isUp = gained === null || gained > 0;
    const reason = isUp && followers.has(listed.item) ? { after: name } : {};
    return { ...listed, gained, ...reason };
  });
}

/** For people who do not see the marks, such as users of a screen reader. */
export function movesInWords(moved: readonly Moved[]): string {
  const fresh = moved.filter(({ gained }) => gained === null).length;
  const shifted = moved.filter(({ gained }) => gained !== null && gained !== 0).length;
  if (fresh === 0 && shifted === 0) return 'the list is as it was';
  return `${fresh} new, ${shifted} moved`;
}
