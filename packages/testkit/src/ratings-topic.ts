/** Sends records of any content to the topic `ratings` of a system. */
import { shardOf } from '@freshet/events';
import { type OutRecord, openKafka, Publisher } from '@freshet/stream';
import { openLog } from '@freshet/telemetry';
import type { System } from './system.ts';

/** As many partitions as Freshet gives the topic when it creates it. */
export const PARTITIONS = 4;

interface Sent {
  readonly user: string;
  /** An object is sent as JSON, text as it is. */
  readonly value: object | string | null;
  /** By default the one that a producer chooses for the user. */
  readonly partition?: number;
}

export function ratingsRecord({ user, value, partition }: Sent): OutRecord {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return {
    topic: 'ratings',
    partition: partition ?? shardOf(user, PARTITIONS),
    key: user,
    value: value === null ? null : Buffer.from(text),
  };
}

/** A producer beside the services, with nothing of theirs. */
export async function openPublisher({ brokers }: System): Promise<Publisher> {
  const options = { clientId: 'test', brokers: brokers.split(',') };
  return Publisher.open(await openKafka(options, openLog('test', 'error')));
}

export async function sendRatings(system: System, sent: readonly Sent[]): Promise<void> {
  const publisher = await openPublisher(system);
  await publisher.publish(sent.map(ratingsRecord));
  await publisher.close();
}
