/** What the console sends to its pages: the contract between the server and the page. */

/** The parts of a ranking, and the numbers of ratings for which their shares are shown. */
export const rankingParts = ['own', 'popular', 'newcomers', 'now', 'next'] as const;
export const rankingRatings = ['0', '15', '255'] as const;
export type ShareName = `share:${(typeof rankingParts)[number]}:${(typeof rankingRatings)[number]}`;
export const shareNames = rankingRatings.flatMap((ratings) =>
  rankingParts.map((part): ShareName => `share:${part}:${ratings}`),
);

/** The figures of a frame. Rates are per second, durations in seconds, shares from 0 to 1. */
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

/** A figure that was not measured is NaN, which JSON does not have. */
export function measured(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

export interface ServiceState {
  readonly service: string;
  readonly address: string;
  /** Since when the process does not answer, in ms since 1970; null while it does. */
  readonly downSince: number | null;
  /** What readiness waits for; null if the process is ready or does not answer. */
  readonly waitingFor: string | null;
  /** When the process was started, in ms since 1970. */
  readonly startedAt: number | null;
  readonly memoryBytes: number | null;
  readonly loopDelaySeconds: number | null;
  readonly version: string | null;
}

export interface DeadLetter {
  /** Offset on the dead-letter topic, by which `freshet dead-letters` names it. */
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
  readonly letters: readonly DeadLetter[];
}

/** Sent to a page first: what it would know if it had been open all along. */
export interface History {
  /** `seriesNames` of the server. A page that was loaded before an update has other names. */
  readonly names: readonly string[];
  readonly samples: readonly { readonly at: number; readonly values: Values }[];
  readonly services: readonly ServiceState[];
  readonly letters: readonly DeadLetter[];
}

/** A quarter of an hour at one frame a second. */
export const HISTORY_FRAMES = 900;
/** Dead letters that the page shows. `freshet dead-letters` shows all of them. */
export const LETTERS = 50;
