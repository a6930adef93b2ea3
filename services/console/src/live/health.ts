/** Does a service run? It may have several processes, and some of them may not. */
import type { ServiceState } from './frame.ts';

/** What is wrong with a service, in a few words that fit into a box; null while nothing is. */
export function troubleOf(service: string, services: readonly ServiceState[]): string | null {
  const processes = services.filter((state) => state.service === service);
  const silent = processes.filter(({ downSince }) => downSince !== null).length;
  const waiting = processes.filter(({ waitingFor }) => waitingFor !== null).length;
  if (silent > 0) return `${amount(silent, processes.length)}does not answer`;
  return waiting > 0 ? `${amount(waiting, processes.length)}not ready yet` : null;
}

/** True while at least one of its processes runs and is ready. */
export function isServing(service: string, services: readonly ServiceState[]): boolean {
  return services.some(
    (state) => state.service === service && state.downSince === null && state.waitingFor === null,
  );
}

function amount(some: number, all: number): string {
  return all === 1 ? '' : `${some} of ${all} `;
}
