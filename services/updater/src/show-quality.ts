/** The live figures of quality as gauges. */
import { methods, type PrequentialFigures, userGroups } from '@freshet/quality';
import { metrics } from '@freshet/telemetry';

export function showQuality(figures: PrequentialFigures): void {
  for (const users of userGroups) {
    const { events, auc, hits } = figures[users];
    metrics.prequentialEvents.set({ users }, events);
    for (const method of methods) {
      metrics.prequentialAuc.set({ users, method }, auc[method]);
      metrics.prequentialHits.set({ users, method }, hits[method]);
    }
  }
}
