/**
 * Lets a connection of kafkajs rest. After each check for requests that wait, its queue schedules
 * the next check, even if none waits: a timer that fires every millisecond for as long as the
 * connection is open, with a negative delay of which Node 24 warns. A check is only needed while a
 * request waits; one that is queued later schedules a check itself.
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
