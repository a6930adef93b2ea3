/** What does the console tell its pages? The one contract between the server and the page. */

/** Parts that a ranking rests on, and at how many ratings of a user it is told how much each counts. */
export const rankingParts = ['own', 'popular', 'newcomers', 'now', 'next'] as const;
export const rankingRatings = ['0', '15', '255'] as const;
export type ShareName = `share:${(typeof rankingParts)[number]}:${(typeof rankingRatings)[number]}`;
export const shareNames = rankingRatings.flatMap((ratings) =>
  rankingParts.map((part): ShareName => `share:${part}:${ratings}`),
);

/** Figures that are kept over time. Rates are per second, durations in seconds, shares from 0 to 1. */
export const seriesNames = [
  'producedRate',
  'takenRate',
  'userRate',
  'itemRate',
  'movedRate',
  'gramRate',
  'requestRate',
  'parkedRate',
  'storedP50',
  'storedP99',
  'servableP50',
  'servableP99',
  'lagIntake',
  'lagUser',
  'lagItem',
  'lagServed',
  'lagSeconds',
  'lossAll',
  'lossCold',
  'aucAll',
  'aucCold',
  'aucNew',
  'aucAllPopularity',
  'aucColdPopularity',
  'aucNewPopularity',
  'hitAll',
  'hitCold',
  'hitNew',
  'hitAllPopularity',
  'hitColdPopularity',
  'hitNewPopularity',
  'users',
  'items',
  'ratings',
  'rankingLearnt',
  ...shareNames,
] as const;

export type SeriesName = (typeof seriesNames)[number];

/** One value for each name of `seriesNames`, in that order; null where nothing was measured. */
export type Values = readonly (number | null)[];

/** JSON has no NaN, which is what a figure is that was not measured. */
export function measured(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

export interface ServiceState {
  readonly service: string;
  readonly address: string;
  /** null while it answers; else since when it does not, in ms since 1970. */
  readonly downSince: number | null;
  /** What readiness waits for; null when ready, or when it does not answer. */
  readonly waitingFor: string | null;
  /** When it was started, in ms since 1970. */
  readonly startedAt: number | null;
  readonly memoryBytes: number | null;
  readonly loopDelaySeconds: number | null;
  readonly version: string | null;
}

export interface DeadLetter {
  /** Offset on the dead-letter topic: how an operator names it. */
  readonly offset: number;
  readonly at: number;
  readonly reason: string;
  readonly source: string;
  readonly bytes: number;
  readonly preview: string;
}

export interface Frame {
  /** ms since 1970. */
  readonly at: number;
  readonly values: Values;
  readonly services: readonly ServiceState[];
  /** Those that came since the last frame. */
  readonly letters: readonly DeadLetter[];
}

/** What a page is told first: everything that it would know had it been open all along. */
export interface History {
  /** `seriesNames` of the server: a page that was loaded before an update may have others. */
  readonly names: readonly string[];
  readonly samples: readonly { readonly at: number; readonly values: Values }[];
  readonly services: readonly ServiceState[];
  readonly letters: readonly DeadLetter[];
}

/** A quarter of an hour at one frame a second. */
export const HISTORY_FRAMES = 900;
/** As many dead letters as fit on a page; `freshet dead-letters` has them all. */
export const LETTERS = 50;
