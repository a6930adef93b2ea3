/**
 * When the user lacks a right, kafkajs does not say on which topic or group. A retry does not help,
 * so the error is replaced by one that says what was asked for.
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

/** The error itself, or for a missing right: "Kafka does not allow this user to `deed`". */
export function asRefused(error: unknown, deed: string): unknown {
  if (!isRefusal(error)) return error;
  return new Refused(`Kafka does not allow this user to ${deed}`, { cause: error });
}

/** The same as a handler for `catch`. */
export function orRefused(deed: string): (error: unknown) => never {
  return (error) => {
    throw asRefused(error, deed);
  };
}
