/** Which faults a history has, and how often: chances per request or per step. */
export interface Weather {
  /** A request is the last thing that its process does. */
  readonly death: number;
  /** A server does not answer: the request never arrived, or its answer is lost. */
  readonly away: number;
  /** The store commits, and its answer is lost. */
  readonly answerLost: number;
  /**
   * Records are in flight for so long that the sender has given up, or has died, when they arrive.
   */
  readonly late: number;
  /** An answer takes a while. */
  readonly slow: number;
  /** A scan of a shard breaks off. */
  readonly scanBroken: number;
  /** A process is replaced, and goes on without knowing it. */
  readonly replaced: number;
  /** The group gives a process its partitions anew, or its consumer breaks down or hangs. */
  readonly rebalanced: number;
  /** The store goes back to what it held a while ago. */
  readonly storeBack: number;
  readonly storeWiped: number;
  /** A person drops what is learnt, and lets it be learnt again from the sources. */
  readonly rebuilt: number;
  /** Old records of a topic that need not be kept are deleted. */
  readonly retention: number;
  /** Records of `user-ratings` or `item-ratings` are deleted that were applied long ago. */
  readonly expired: number;
  /** The offsets that intake has committed are lost, or go back to earlier ones. */
  readonly offsetsBack: number;
  /** A topic that ratings come from gets another partition. */
  readonly grown: number;
  /** Records of a source are deleted. */
  readonly cut: number;
  /** A source, or a log of a side, is deleted and created anew. */
  readonly recreated: number;
  /** A late retry delivers an old partial gram again. */
  readonly repeated: number;
  /** A record forgets its user. */
  readonly forgets: number;
}

export const calm: Weather = {
  death: 0,
  away: 0,
  answerLost: 0,
  late: 0,
  slow: 0,
  scanBroken: 0,
  replaced: 0,
  rebalanced: 0,
  storeBack: 0,
  storeWiped: 0,
  rebuilt: 0,
  retention: 0,
  expired: 0,
  offsetsBack: 0,
  grown: 0,
  cut: 0,
  recreated: 0,
  repeated: 0,
  forgets: 0.08,
};

/**
 * Processes die and are replaced, servers do not answer; what is stored and what is logged stays.
 */
export const storm: Weather = {
  ...calm,
  death: 0.01,
  away: 0.03,
  answerLost: 0.03,
  late: 0.03,
  slow: 0.2,
  scanBroken: 0.02,
  replaced: 0.03,
  rebalanced: 0.02,
  storeBack: 0.03,
  retention: 0.02,
  offsetsBack: 0.02,
  grown: 0.01,
  repeated: 0.03,
};

/**
 * The same, and the store loses everything, also when the logs no longer hold their first records.
 */
export const storeLoss: Weather = { ...storm, storeWiped: 0.015, expired: 0.02, rebuilt: 0.01 };

/**
 * Sources lose records or are recreated. The store and the offsets of intake do not go back, since
 * what an operator has accepted is stored there.
 */
export const logLoss: Weather = {
  ...storm,
  storeBack: 0,
  offsetsBack: 0,
  death: 0.005,
  storeWiped: 0.008,
  rebuilt: 0.008,
  cut: 0.03,
  recreated: 0.01,
};

/** The only fault: the store commits and its answer is lost. */
export const lostAnswers: Weather = { ...calm, answerLost: 0.2 };
