/** The numbers that the paper reports, to print beside ours (table:static_results and its text). */
import type { RatingTable } from './rating-table.ts';

export type PaperDataset = 'Movielens' | 'FineFoods' | 'AmazonMovies';

type Triple = readonly [ndcgRi: number, ndcg: number, auc: number];

/** By the labels of our rows. */
export const paperStatic: Record<PaperDataset, Readonly<Record<string, Triple>>> = {
  Movielens: {
    'SL with prior': [0.885, 0.5046, 0.8695],
    'SL without prior': [0.886, 0.3597, 0.6548],
    'AL with prior': [0.8683, 0.4452, 0.8134],
    'AL without prior': [0.8794, 0.3801, 0.6927],
    'Mult-NMF': [0.8433, 0.3758, 0.7011],
    'ALS-UV': [0.8332, 0.3292, 0.5839],
  },
  FineFoods: {
    'SL with prior': [0.887, 0.1237, 0.8452],
    'SL without prior': [0.888, 0.1023, 0.8314],
    'AL with prior': [0.8722, 0.1026, 0.8412],
    'AL without prior': [0.873, 0.0923, 0.7294],
    'Mult-NMF': [0.8476, 0.083, 0.3403],
    'ALS-UV': [0.8653, 0.0873, 0.5485],
  },
  AmazonMovies: {
    'SL with prior': [0.8992, 0.1887, 0.9276],
    'SL without prior': [0.9035, 0.1103, 0.8656],
    'AL with prior': [0.8804, 0.1348, 0.8634],
    'AL without prior': [0.8854, 0.1002, 0.7625],
    'Mult-NMF': [0.8498, 0.0959, 0.633],
    'ALS-UV': [0.8658, 0.0906, 0.6601],
  },
};

/** What the paper's text says about its figures, for which it prints no numbers. */
export const paperWords = {
  dynamic:
    'The paper shows a figure without numbers: the average AUC does not fall as ratings are added, a prior is better than none throughout, and both losses with prior are above Vowpal Wabbit.',
  delay:
    'The paper, Movielens: AUC drops by 3 % when 5 to 10 ratings behind (its text also says 1.1 % at 5) and by about 14 % at 1000; for cold users by 11.8 % at 5. FineFoods: 10 % at 5 to 10, 13.4 % for cold users.',
  parameters:
    'The paper: an optimum in k that depends on the data; time per update linear in k; λ without influence until it is large; any ρ > 0 well above ρ = 0, and time per update falling with ρ.',
} as const;

/** The paper's Movielens losses at some delays, read from its text. */
export const paperDelay = [
  { delay: 5, loss: 0.03 },
  { delay: 10, loss: 0.03 },
  { delay: 1_000, loss: 0.14 },
] as const;

const sizes: Record<PaperDataset, number> = {
  Movielens: 1_000_209,
  FineFoods: 568_454,
  AmazonMovies: 7_831_442,
};

/** The paper's data set of this size (table:datasets); Movielens if there is none. */
export function paperDatasetOf(table: RatingTable): {
  readonly name: PaperDataset;
  readonly same: boolean;
} {
  const names = Object.keys(sizes) as PaperDataset[];
  const name = names.find((candidate) => sizes[candidate] === table.user.length);
  return { name: name ?? 'Movielens', same: name !== undefined };
}
