export { type Log, openLog, plainError } from './log.ts';
export type { Labels, Service } from './metric-kinds.ts';
export { exposeMetrics, metrics, registry, table as metricTable } from './metrics.ts';
export { type LabelSet, MetricsPage } from './metrics-page.ts';
export { untilAnswered } from './until-answered.ts';
export { Fault, ServerAway, type Verdict, verdict } from './verdict.ts';
