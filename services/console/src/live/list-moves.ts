/** What has a rating done to a list? Each place of the new list beside where its item was before. */
export interface Listed {
  readonly item: string;
  readonly score: number;
  readonly title?: string;
  readonly categories?: readonly string[];
}

export interface Moved extends Listed {
  /** Places gained (positive) or lost; null: it was not on the list before. */
  readonly gained: number | null;
  /** The item that was just rated and that this one comes after, if that is why it moved up. */
  readonly after?: string;
}

/** What was just rated, and which items are known to come after it. */
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

/** In a sentence, for those who do not see the marks. */
export function movesInWords(moved: readonly Moved[]): string {
  const fresh = moved.filter(({ gained }) => gained === null).length;
  const shifted = moved.filter(({ gained }) => gained !== null && gained !== 0).length;
  if (fresh === 0 && shifted === 0) return 'the list is as it was';
  return `${fresh} new, ${shifted} moved`;
}
