/** Where does everything lie in the picture of the flow? Two layouts of the same boxes and arrows. */
export type BoxName = 'producers' | 'user' | 'item' | 'redis' | 'aggregator' | 'scorer';
export type ArrowName =
  | 'ratings'
  | 'itemRatings'
  | 'factors'
  | 'userStore'
  | 'itemStore'
  | 'gramParts'
  | 'grams'
  | 'requests';

interface Place {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly box: { readonly width: number; readonly height: number };
  readonly boxes: Readonly<Record<BoxName, Place>>;
  readonly arrows: Readonly<Record<ArrowName, { readonly path: string; readonly label: Place }>>;
  /** Where a label lies to its place. */
  readonly anchor: 'middle' | 'start';
}

export const wide: Layout = {
  width: 1120,
  height: 252,
  box: { width: 158, height: 62 },
  anchor: 'middle',
  boxes: {
    producers: { x: 1, y: 30 },
    user: { x: 279, y: 30 },
    item: { x: 557, y: 30 },
    scorer: { x: 835, y: 30 },
    redis: { x: 279, y: 182 },
    aggregator: { x: 604, y: 182 },
  },
  arrows: {
    ratings: { path: 'M159 61H273', label: { x: 216, y: 40 } },
    itemRatings: { path: 'M437 61H551', label: { x: 494, y: 40 } },
    factors: { path: 'M715 61H829', label: { x: 772, y: 40 } },
    requests: { path: 'M1119 61H999', label: { x: 1060, y: 40 } },
    userStore: { path: 'M358 92V176', label: { x: 300, y: 138 } },
    itemStore: { path: 'M590 92V213H443', label: { x: 512, y: 198 } },
    gramParts: { path: 'M683 92V176', label: { x: 736, y: 138 } },
    grams: { path: 'M762 213H914V98', label: { x: 842, y: 198 } },
  },
};

export const tall: Layout = {
  width: 350,
  height: 456,
  box: { width: 150, height: 54 },
  anchor: 'start',
  boxes: {
    producers: { x: 1, y: 1 },
    user: { x: 1, y: 117 },
    item: { x: 1, y: 233 },
    scorer: { x: 1, y: 349 },
    redis: { x: 199, y: 175 },
    aggregator: { x: 199, y: 291 },
  },
  arrows: {
    ratings: { path: 'M60 55V111', label: { x: 70, y: 80 } },
    itemRatings: { path: 'M60 171V227', label: { x: 70, y: 196 } },
    factors: { path: 'M60 287V343', label: { x: 70, y: 312 } },
    requests: { path: 'M60 455V409', label: { x: 70, y: 438 } },
    userStore: { path: 'M151 144H274V169', label: { x: 180, y: 137 } },
    itemStore: { path: 'M151 252H250V235', label: { x: 258, y: 252 } },
    gramParts: { path: 'M151 270H300V285', label: { x: 170, y: 283 } },
    grams: { path: 'M274 345V376H157', label: { x: 180, y: 394 } },
  },
};
