export { AdminServer } from './admin-server.ts';
export { ClosingStack } from './closing-stack.ts';
export { listening } from './listening.ts';
export { type RequestGuard, requestGuard } from './request-guard.ts';
export { runService, type ServiceContext } from './run-service.ts';
export { securityHeaders } from './security-headers.ts';
export type { Clock } from './token-guard.ts';
