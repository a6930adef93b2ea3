export { Child, type ChildOptions } from './child.ts';
export { type KafkaServerOptions, startKafka } from './kafka-server.ts';
export { accepts, freePort } from './ports.ts';
export { causeOf, kafkaJars, onPath, program } from './provision.ts';
export { startRedis } from './redis-server.ts';
export { isReady, type ServiceName, serviceNames, startService } from './service.ts';
export { SetupProblem, type Steps, stepsTo } from './steps.ts';
