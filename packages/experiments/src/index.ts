export { ablationRows } from './ablations.ts';
export { type CatalogueItem, generateCatalogue } from './catalogue.ts';
export {
  defaultRow,
  expectedValueRow,
  type Grid,
  grids,
  lossLabels,
  paperRow,
  type Row,
  staticBaselines,
  staticModelRows,
  streamingBaselines,
  type Training,
} from './comparison.ts';
export {
  type Measured,
  type MeasuredRow,
  measure,
  overRuns,
  type Plan,
  type TriedSetting,
} from './experiment.ts';
export { type GeneratedRating, type GeneratorOptions, generateRatings } from './generator.ts';
export type { Method, StreamingMethod } from './method.ts';
export { type PaperDataset, paperDatasetOf } from './paper-results.ts';
export {
  dynamicPlan,
  NotEnoughRatings,
  requireBlocks,
  staticPlan,
  usualBlocks,
} from './plans.ts';
export { type DelayPoint, measureDelay } from './protocols/delay.ts';
export type { DynamicResult } from './protocols/dynamic.ts';
export {
  measureParameters,
  type Parameter,
  type ParameterPoint,
} from './protocols/parameters.ts';
export type { StaticResult } from './protocols/static.ts';
export {
  loadTable,
  type RatingColumns,
  type RatingTable,
} from './rating-table.ts';
export { ablationSection } from './report/ablation-section.ts';
export { delaySection } from './report/delay-section.ts';
export { type DynamicRow, dynamicSection } from './report/dynamic-section.ts';
export { type Page, renderPage } from './report/page.ts';
export { parametersSection } from './report/parameters-section.ts';
export type { Section } from './report/section.ts';
export { type StaticRow, staticSection } from './report/static-section.ts';
export { renderText } from './report/text.ts';
export { ResultsFile } from './results-file.ts';
export { Runner, type RunnerProgress } from './runner.ts';
export type { DynamicTask, StaticTask, Task } from './task.ts';
