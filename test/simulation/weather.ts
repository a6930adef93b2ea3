/** What goes wrong in a history, and how often. Chances are per request or per step. */
export interface Weather {
  /** A request is the last thing that its process does. */
  readonly death: number;
  /** A server does not answer: the request never arrived, or its answer is lost. */
  readonly away: number;
  /** The store commits, and its answer is lost. */
  readonly answerLost: number;
  /** An answer takes a while. */
  readonly slow: number;
  /** A scan of a shard breaks off. */
  readonly scanBroken: number;
  /** A process is replaced, and goes on as if it were not. */
  readonly replaced: number;
  /** The group gives a process its partitions anew, or its consumer breaks down or hangs. */
  readonly rebalanced: number;
  /** The store goes back to what it held a while ago. */
  readonly storeBack: number;
  readonly storeWiped: number;
  /** Old records of a topic that need not be kept are deleted. */
  readonly retention: number;
  /** Records of the ratings topic are deleted. */
  readonly cut: number;
  /** The ratings topic is deleted and created anew. */
  readonly recreated: number;
  /** A retry that was long on its way brings an old partial gram once more. */
  readonly repeated: number;
  /** Records come on the wrong partition. */
  readonly strays: boolean;
  /** A record forgets its user. */
  readonly forgets: number;
}

export const calm: Weather = {
  death: 0,
  away: 0,
  answerLost: 0,
  slow: 0,
  scanBroken: 0,
  replaced: 0,
  rebalanced: 0,
  storeBack: 0,
  storeWiped: 0,
  retention: 0,
  cut: 0,
  recreated: 0,
  repeated: 0,
  strays: false,
  forgets: 0.08,
};

/** Processes die and are replaced, servers do not answer; what is stored and what is logged stays. */
export const storm: Weather = {
  ...calm,
  death: 0.01,
  away: 0.03,
  answerLost: 0.03,
  slow: 0.2,
  scanBroken: 0.02,
  replaced: 0.03,
  rebalanced: 0.02,
  storeBack: 0.03,
  retention: 0.02,
  repeated: 0.03,
  strays: true,
};

/** Beside that, the store loses everything. */
export const storeLoss: Weather = { ...storm, storeWiped: 0.015 };

/**
 * The log loses records. No strays: they do not know which life of a log they came from. And the store does
 * not go back: what it forgot of users, and can no longer read, has already reached the items.
 */
export const logLoss: Weather = {
  ...storm,
  storeBack: 0,
  death: 0.005,
  storeWiped: 0.008,
  cut: 0.02,
  recreated: 0.01,
  strays: false,
};

/** Nothing happens but that a store commits and its answer is lost. */
export const lostAnswers: Weather = { ...calm, answerLost: 0.2 };
