/** A world whose answers a human can see: even users like even items and odd users odd ones. */
import type { Random } from '@freshet/model';

/** All cells of a board that have a rating, row by row; those on the diagonal are left out. */
export function checkerboard(users: number, items: number): { user: number; item: number }[] {
  const cells: { user: number; item: number }[] = [];
  for (let user = 0; user < users; user++) {
    for (let item = user % 2; item < items; item += 2) {
      if (item !== user % items) cells.push({ user, item });
    }
  }
  return cells;
}

/** 120 people and 24 films: each person has rated 8 of the 12 films they like. */
export const filmClub = { people: 120, films: 24, ratedEach: 8 } as const;

/**
 * Person by person. `random` draws which films are rated and in which order; else both are fixed.
 */
export function filmClubRatings(random?: Random): { user: string; item: string; value: number }[] {
  const { people, films, ratedEach } = filmClub;
  const likedEach = films / 2;
  return Array.from({ length: people }, (_, person) => {
    const liked = Array.from({ length: likedEach }, (_, nth) => {
      return (person % 2) + 2 * ((5 * person + 7 * nth) % likedEach);
    });
    return Array.from({ length: ratedEach }, () => {
      const [film] = liked.splice(random?.below(liked.length) ?? 0, 1);
      return { user: `person-${person}`, item: `film-${film}`, value: 5 };
    });
  }).flat();
}
