/** The coordinates of the flow picture: two layouts of the same boxes and arrows. */
interface Place {
  readonly x: number;
  readonly y: number;
}

interface Arrow {
  readonly path: string;
  readonly label: Place;
}

export type BoxName = keyof typeof wide.boxes;
export type ArrowName = keyof typeof wide.arrows;
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly box: { readonly width: number; readonly height: number };
  readonly boxes: Readonly<Record<BoxName, Place>>;
  readonly arrows: Readonly<Record<ArrowName, Arrow>>;
  /** How the text of a label is aligned to its place. */
  readonly anchor: 'middle' | 'start';
}

export const wide = {
  width: 1120,
  height: 252,
  box: { width: 142, height: 62 },
  anchor: 'middle',
  boxes: {
    producers: { x: 1, y: 30 },
    intake: { x: 219, y: 30 },
    user: { x: 437, y: 30 },
    item: { x: 655, y: 30 },
    scorer: { x: 873, y: 30 },
    redis: { x: 397, y: 182 },
    aggregator: { x: 712, y: 182 },
  },
  arrows: {
    ratings: { path: 'M143 61H213', label: { x: 181, y: 20 } },
    userRatings: { path: 'M361 61H431', label: { x: 399, y: 20 } },
    itemRatings: { path: 'M579 61H649', label: { x: 617, y: 20 } },
    factors: { path: 'M797 61H867', label: { x: 835, y: 20 } },
    requests: { path: 'M1119 61H1021', label: { x: 1066, y: 20 } },
    userStore: { path: 'M488 92V176', label: { x: 430, y: 138 } },
    itemStore: { path: 'M672 92V213H545', label: { x: 606, y: 198 } },
    gramParts: { path: 'M770 92V176', label: { x: 822, y: 138 } },
    grams: { path: 'M854 213H944V98', label: { x: 899, y: 198 } },
  },
} as const;

export const tall: Layout = {
  width: 350,
  height: 572,
  box: { width: 150, height: 54 },
  anchor: 'start',
  boxes: {
    producers: { x: 1, y: 1 },
    intake: { x: 1, y: 117 },
    user: { x: 1, y: 233 },
    item: { x: 1, y: 349 },
    scorer: { x: 1, y: 465 },
    redis: { x: 199, y: 291 },
    aggregator: { x: 199, y: 407 },
  },
  arrows: {
    ratings: { path: 'M60 55V111', label: { x: 70, y: 80 } },
    userRatings: { path: 'M60 171V227', label: { x: 70, y: 196 } },
    itemRatings: { path: 'M60 287V343', label: { x: 70, y: 312 } },
    factors: { path: 'M60 403V459', label: { x: 70, y: 428 } },
    requests: { path: 'M60 571V525', label: { x: 70, y: 554 } },
    userStore: { path: 'M151 260H274V285', label: { x: 180, y: 253 } },
    itemStore: { path: 'M151 368H250V351', label: { x: 258, y: 368 } },
    gramParts: { path: 'M151 386H300V401', label: { x: 170, y: 399 } },
    grams: { path: 'M274 461V492H157', label: { x: 180, y: 510 } },
  },
};
