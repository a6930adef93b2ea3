/**
 * Kafka refuses a request for want of a right, and kafkajs does not say of which topic or group. No
 * waiting grants a right: whoever made the request says here what it was.
 */
import { Fault } from '@freshet/telemetry';

export class Refused extends Fault {
  readonly verdict = 'stop';
}

/** kafkajs exports its classes to CommonJS only, so errors are recognised by their `type`. */
export function isRefusal(error: unknown): boolean {
  const { errors, type, cause } = Object(error) as Record<string, unknown>;
  if (Array.isArray(errors)) return errors.length > 0 && errors.every(isRefusal);
  return /AUTHORIZATION_FAILED/.test(String(type)) || (cause !== undefined && isRefusal(cause));
}

/** The error, or if it is a refusal, one that says what: "… not allow this user to `deed`". */
export function named(error: unknown, deed: string): unknown {
  if (!isRefusal(error)) return error;
  return new Refused(`Kafka does not allow this user to ${deed}`, { cause: error });
}

/** For `catch`. */
export function orRefused(deed: string): (error: unknown) => never {
  return (error) => {
    throw named(error, deed);
  };
}
