/** Ada, a user of the demo, likes films of one category for a while, then of another. */
import type { CatalogueItem } from '@freshet/experiments';

/** The world that the demo streams, and the catalogue that belongs to it. */
export const world = {
  users: 125_000,
  items: 600,
  ratings: 5_000_000,
  seed: 7,
  concurrency: 200,
  newItems: 0,
  nature: 'strands',
} as const;
/** So many ratings, sent at once when the topic is empty, make the first lists sensible. */
export const BACKLOG = 40_000;
export const ADA_KEEPS_A_TASTE = 8;
const FILMS_OF_A_STRAND = 2;

/** What Ada likes, without end, and the same at every start. */
export function* adasLikings<Film extends Pick<CatalogueItem, 'categories' | 'strand'>>(
  catalogue: readonly Film[],
) {
  const tastes = [...new Set(catalogue.map(({ categories }) => categories[0] as string))];
  const remembered: Film[] = [];
  for (let visit = 0; tastes.length > 0; visit++) {
    for (const taste of tastes) {
      const shelf = catalogue.filter(({ categories }) => categories[0] === taste);
      const strands = 1 + Math.max(...shelf.map(({ strand }) => strand));
      for (let turn = 0; turn < ADA_KEEPS_A_TASTE; turn++) {
        const strand = Math.floor(turn / FILMS_OF_A_STRAND) % strands;
        const films = shelf.filter((film) => film.strand === strand);
        const at = visit * FILMS_OF_A_STRAND + (turn % FILMS_OF_A_STRAND);
        const film = films[at % films.length];
        if (film === undefined) continue;
        remembered.push(film);
        // Otherwise she would run out of films.
        const isFull = remembered.length > tastes.length * ADA_KEEPS_A_TASTE;
        const forgotten = isFull ? remembered.shift() : undefined;
        yield { film, taste, likes: turn + 1, forgotten };
      }
    }
  }
}
