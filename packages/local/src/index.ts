export { asSetupProblem } from './cause.ts';
export { Child, type Spawned } from './child.ts';
export { startKafka } from './kafka-server.ts';
export { accepts, freePort } from './ports.ts';
export { processIdentity } from './process-identity.ts';
export { dataFolder, kafkaJars, onPath, program, programPath } from './provision.ts';
export { startRedisCluster } from './redis-cluster.ts';
export { startRedis } from './redis-server.ts';
export {
  type AnyServiceName,
  allServiceNames,
  isReady,
  type ServiceName,
  serviceNames,
  startService,
} from './service.ts';
export { SetupProblem, type Steps, stepsTo } from './steps.ts';
