export { AdminServer, type Health } from './admin-server.ts';
export { type Closable, ClosingStack } from './closing-stack.ts';
export { exposeMetrics, registry } from './exposition.ts';
export { type Address, CannotListen, listening } from './listening.ts';
export { type Log, openLog } from './log.ts';
export type { Declared, Labels, Service } from './metric-kinds.ts';
export { metrics, table as metricTable } from './metrics.ts';
export { runService, type ServiceContext } from './run-service.ts';
export { Fault, ServerAway, type Verdict, verdict } from './verdict.ts';
