export { ModelAgreement } from './model-agreement.ts';
export { type Brokers, openBrokers, openTopics } from './open-brokers.ts';
export { agreementOf, openSession, type Session, STORE_FORMAT } from './open-session.ts';
