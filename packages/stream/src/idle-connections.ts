/**
 * Lets a connection of kafkajs rest. Its queue checks every millisecond for waiting requests, by a
 * timer with a negative delay of which Node 24 warns. A check is only needed while a request waits;
 * one that is queued later schedules a check itself.
 */
import { createRequire } from 'node:module';

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

export function letConnectionsRest(): void {
  const { prototype }: { prototype: RequestQueue } = createRequire(import.meta.url)(
    'kafkajs/src/network/requestQueue',
  );
  const { scheduleCheckPendingRequests } = prototype;
  prototype.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
  };
}
