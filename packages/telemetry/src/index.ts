export { exposeMetrics, registry } from './exposition.ts';
export { type Log, openLog } from './log.ts';
export type { Labels, Service } from './metric-kinds.ts';
export { metrics, table as metricTable } from './metrics.ts';
export { plainError } from './plain-error.ts';
export { untilAnswered } from './until-answered.ts';
export { Fault, ServerAway, type Verdict, verdict } from './verdict.ts';
