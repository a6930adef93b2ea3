export { connectionProblem } from './connection-problem.ts';
export { type Log, openLog, plainError } from './log.ts';
export type { Service } from './metric-kinds.ts';
export { exposeMetrics, metrics, registry, table as metricTable } from './metrics.ts';
export { type LabelSet, MetricsPage } from './metrics-page.ts';
export { untilAnswered } from './until-answered.ts';
export { Fault, ServerAway, verdict } from './verdict.ts';
