export { ablationRows } from './ablations.ts';
export { AliasTable } from './alias-table.ts';
export { type CatalogueItem, generateCatalogue } from './catalogue.ts';
export {
  defaultRow,
  expectedValueRow,
  grids,
  lossLabels,
  type MethodRow,
  type ModelRow,
  paperRow,
  staticBaselines,
  staticModelRows,
  streamingBaselines,
  type Training,
} from './comparison.ts';
export { measure, overRuns } from './experiment.ts';
export { type GeneratedRating, type GeneratorOptions, generateRatings } from './generator.ts';
export type { StreamingMethod } from './method.ts';
export { deviation } from './metrics/mean.ts';
export { paperDatasetOf } from './paper-results.ts';
export { dynamicPlan, NotEnoughRatings, requireBlocks, staticPlan, usualBlocks } from './plans.ts';
export { measureDelay } from './protocols/delay.ts';
export type { DynamicResult } from './protocols/dynamic.ts';
export { measureParameters } from './protocols/parameters.ts';
export { staticFigures } from './protocols/static.ts';
export { loadTable, type RatingTable } from './rating-table.ts';
export { ablationSection } from './report/ablation-section.ts';
export { delaySection } from './report/delay-section.ts';
export { type DynamicRow, dynamicSection } from './report/dynamic-section.ts';
export { renderPage } from './report/page.ts';
export { parametersSection } from './report/parameters-section.ts';
export { renderText, type Section } from './report/section.ts';
export { staticSection } from './report/static-section.ts';
export { ResultsFile } from './results-file.ts';
export { Runner } from './runner.ts';
