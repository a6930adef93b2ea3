/** The coordinates of the flow picture: two layouts of the same boxes and arrows. */
type Place = Readonly<Record<'x' | 'y', number>>;

interface Arrow {
  readonly path: string;
  readonly label: Place;
}

export type BoxName = keyof typeof boxes;
export type ArrowName = keyof typeof arrows;
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly box: { readonly width: number; readonly height: number };
  readonly boxes: Readonly<Record<BoxName, Place>>;
  readonly arrows: Readonly<Record<ArrowName, Arrow>>;
  readonly anchor: 'middle' | 'start';
}

/** What a box or an arrow is in the wide layout, then in the tall one. */
type InBoth<T> = readonly [wide: T, tall: T];

const at = (x: number, y: number): Place => ({ x, y });
const arrow = (path: string, x: number, y: number): Arrow => ({ path, label: { x, y } });

const boxes = {
  producers: [at(1, 30), at(1, 1)],
  intake: [at(219, 30), at(1, 117)],
  user: [at(437, 30), at(1, 233)],
  item: [at(655, 30), at(1, 349)],
  scorer: [at(873, 30), at(1, 465)],
  redis: [at(397, 182), at(199, 291)],
  aggregator: [at(712, 182), at(199, 407)],
} as const satisfies Record<string, InBoth<Place>>;

const arrows = {
  ratings: [arrow('M143 61H213', 181, 20), arrow('M60 55V111', 70, 80)],
  userRatings: [arrow('M361 61H431', 399, 20), arrow('M60 171V227', 70, 196)],
  itemRatings: [arrow('M579 61H649', 617, 20), arrow('M60 287V343', 70, 312)],
  factors: [arrow('M797 61H867', 835, 20), arrow('M60 403V459', 70, 428)],
  requests: [arrow('M1119 61H1021', 1066, 20), arrow('M60 571V525', 70, 554)],
  userStore: [arrow('M488 92V176', 430, 138), arrow('M151 260H274V285', 180, 253)],
  itemStore: [arrow('M672 92V213H545', 606, 198), arrow('M151 368H250V351', 258, 368)],
  gramParts: [arrow('M770 92V176', 822, 138), arrow('M151 386H300V401', 170, 399)],
  grams: [arrow('M854 213H944V98', 899, 198), arrow('M274 461V492H157', 180, 510)],
} as const satisfies Record<string, InBoth<Arrow>>;

function laidOut<K extends string, T>(all: Record<K, InBoth<T>>, nth: 0 | 1): Record<K, T> {
  const entries = Object.entries<InBoth<T>>(all).map(([name, both]) => [name, both[nth]]);
  return Object.fromEntries(entries);
}

export const wide: Layout = {
  width: 1120,
  height: 252,
  box: { width: 142, height: 62 },
  anchor: 'middle',
  boxes: laidOut(boxes, 0),
  arrows: laidOut(arrows, 0),
};

export const tall: Layout = {
  width: 350,
  height: 572,
  box: { width: 150, height: 54 },
  anchor: 'start',
  boxes: laidOut(boxes, 1),
  arrows: laidOut(arrows, 1),
};
