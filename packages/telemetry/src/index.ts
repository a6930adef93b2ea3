export { AdminServer, type Health } from './admin-server.ts';
export { type Closable, ClosingStack } from './closing-stack.ts';
export { type Address, CannotListen, listening } from './listening.ts';
export { type Log, openLog } from './log.ts';
export { metrics, registry } from './metrics.ts';
export { runService, type ServiceContext } from './run-service.ts';
