import { type CatalogueItem, generateCatalogue, generateRatings } from '@freshet/experiments';
import { OnlineModel } from '@freshet/model';
import { describe, expect, it } from 'vitest';
import { ADA_KEEPS_A_TASTE, adasLikings, BACKLOG, world } from './ada.ts';

/** At 20 ratings a second, three seconds apart. */
const CROWD_BETWEEN = 60;
const TASTES = 6;
const catalogue = generateCatalogue(world);
const byId = new Map(catalogue.map((film) => [film.id, film]));

/** Her list as the scorer makes it: by score, without what she has rated. */
function listOf(model: OnlineModel, length: number): CatalogueItem[] {
  const scores = new Float32Array(model.items.slotEnd);
  model.scoreAll('ada', scores);
  return [...scores.keys()]
    .sort((a, b) => scores[b] - scores[a])
    .map((slot) => byId.get(model.items.idOf(slot) ?? ''))
    .filter((film) => film !== undefined)
    .filter(({ id }) => !model.hasRated('ada', id))
    .slice(0, length);
}

function shareOf(taste: string, list: readonly CatalogueItem[]): number {
  return list.filter(({ categories }) => categories[0] === taste).length / list.length;
}

const mean = (values: readonly number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;

describe('Ada', () => {
  it('gets lists of what she likes, two ratings after she has changed her taste', () => {
    const model = new OnlineModel();
    const crowd = generateRatings(world);
    let time = 0;
    const stream = (count: number) => {
      for (let sent = 0; sent < count; sent++) {
        const { value: rating } = crowd.next();
        if (rating) model.rate(rating.user, rating.item, rating.value, time++);
      }
    };
    stream(BACKLOG);
    const shares: { top3: number; top10: number }[] = [];
    const likings = adasLikings(catalogue);
    for (let turn = 0; turn < TASTES * ADA_KEEPS_A_TASTE; turn++) {
      const { value: liking } = likings.next();
      if (!liking) break;
      model.rate('ada', liking.film.id, 5, time++);
      if (liking.likes === 2) {
        const list = listOf(model, 10);
        const top3 = shareOf(liking.taste, list.slice(0, 3));
        shares.push({ top3, top10: shareOf(liking.taste, list) });
      }
      stream(CROWD_BETWEEN);
    }
    expect(shares).toHaveLength(TASTES);
    expect(mean(shares.map(({ top3 }) => top3))).toBeGreaterThan(2 / 3);
    expect(mean(shares.map(({ top10 }) => top10))).toBeGreaterThan(0.6);
  });

  it('never runs out of films: what she liked long ago she takes back', () => {
    const likings = adasLikings(catalogue);
    const rated = new Set<string>();
    let most = 0;
    for (let turn = 0; turn < 5_000; turn++) {
      const { value: liking } = likings.next();
      if (!liking) break;
      expect(rated.has(liking.film.id)).toBe(false);
      rated.add(liking.film.id);
      if (liking.forgotten) rated.delete(liking.forgotten.id);
      most = Math.max(most, rated.size);
    }
    expect(most).toBe(8 * ADA_KEEPS_A_TASTE);
  });
});
