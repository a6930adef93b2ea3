/** What breaks a rule of test/tidy.test.ts today. These lists may only become shorter. */

/** Files longer than 400 lines. */
export const longFiles: readonly string[] = [];

/** Functions longer than 70 lines. */
export const longFunctions: readonly string[] = [
  'packages/testkit/src/factor-store-contract.ts: contentLaws',
  'packages/testkit/src/model-laws.ts: rebuildLaws',
];

/** How many lines of a folder are wider than 100 columns. */
export const wideFolders: Readonly<Record<string, number>> = {};

/** Exports that no file uses, or tests alone. */
export const unusedExports: readonly string[] = [
  'packages/cli/src/intake/topic-records.ts: chosenRecords',
  'packages/cli/src/progress-line.ts: leftWords',
  'packages/cli/src/sources/accept-source.ts: factsBehind',
  'packages/cli/src/up/ada.ts: ADA_KEEPS_A_TASTE',
  'packages/events/src/rating-fields.ts: usualNames',
  'packages/events/src/rating-reader.ts: ratingSchemas',
  'packages/experiments/src/report/line-chart.ts: niceTicks',
  'packages/local/src/on-path.ts: programPath',
  'packages/model/src/combiner.ts: knotPositionOf',
  'packages/model/src/combiner.ts: weightsAt',
  'packages/model/src/index.ts: FullRow',
  'packages/model/src/index.ts: askedOf',
  'packages/model/src/index.ts: knotPositionOf',
  'packages/model/src/index.ts: rootOf',
  'packages/model/src/index.ts: weightsAt',
  'packages/positions/src/index.ts: decodeIntakeMark',
  'packages/replicas/src/replica.ts: ReplicaFull',
  'packages/session/src/open-session.ts: modelSettingsOf',
  'packages/store/src/index.ts: Member',
  'packages/store/src/index.ts: MemorySnapshot',
  'packages/store/src/index.ts: MemoryStore',
  'packages/store/src/index.ts: PlacedEntity',
  'packages/store/src/index.ts: StoreAway',
  'packages/store/src/memory-store.ts: MemorySnapshot',
  'packages/store/src/memory-store.ts: MemoryStore',
  'packages/stream/src/codecs-zstd.ts: readZstdByWasm',
  'services/aggregator/src/aggregation.ts: hideRanking',
  'services/aggregator/src/aggregation.ts: showRanking',
  'services/aggregator/src/drift-watch.ts: gramDrift',
  'services/scorer/src/catalogue.ts: byScoreThenId',
  'services/scorer/src/followed-metadata.ts: describeAll',
  'services/scorer/src/request-metrics.ts: kindOf',
];
