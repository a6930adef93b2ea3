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
}

export function moves(before: readonly Listed[], after: readonly Listed[]): Moved[] {
  const places = new Map(before.map(({ item }, place) => [item, place]));
  return after.map((listed, place) => {
    const was = places.get(listed.item);
    return { ...listed, gained: was === undefined ? null : was - place };
  });
}

/** In a sentence, for those who do not see the marks. */
export function movesInWords(moved: readonly Moved[]): string {
  const fresh = moved.filter(({ gained }) => gained === null).length;
  const shifted = moved.filter(({ gained }) => gained !== null && gained !== 0).length;
  if (fresh === 0 && shifted === 0) return 'the list is as it was';
  return `${fresh} new, ${shifted} moved`;
}
