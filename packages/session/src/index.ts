export { ModelAgreement } from './model-agreement.ts';
export { type Brokers, openBrokers, openTopics, topicPlan } from './open-brokers.ts';
export { agreementOf, openSession, openStore, type Session, STORE_FORMAT } from './open-session.ts';
export { SchemaRegistry, schemaRegistry } from './schema-registry.ts';
