export { asSetupProblem } from './cause.ts';
export { Child } from './child.ts';
export { LocalSystem, type LocalSystemOptions, type PortName } from './local-system.ts';
export { accepts, freePort } from './ports.ts';
export { processIdentity } from './process-identity.ts';
export { dataFolder, kafkaJars, onPath, program, programPath } from './provision.ts';
export { startRedis } from './redis-server.ts';
export {
  type AnyServiceName,
  allServiceNames,
  serviceNames,
  untilReady,
} from './service.ts';
export { SetupProblem, type Steps, stepsTo } from './steps.ts';
