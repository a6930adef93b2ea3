export { asSetupProblem, DISK_FULL, isFull } from './cause.ts';
export { Child } from './child.ts';
export { LocalSystem, type PortName } from './local-system.ts';
export { freePort } from './ports.ts';
export { processIdentity } from './process-identity.ts';
export { dataFolder } from './provision.ts';
export { pythonWith } from './python.ts';
export { type AnyServiceName, allServiceNames, serviceNames, untilReady } from './service.ts';
export { SetupProblem, stepsTo } from './steps.ts';
