/** What an open page knows. Its memory is bounded, for however long it stays open. */
import {
  type DeadLetter,
  type Frame,
  HISTORY_FRAMES,
  type History,
  LETTERS,
  type ServiceState,
  seriesNames,
} from './frame.ts';
import { SeriesRing } from './series-ring.ts';

/** The server sends other figures than this page knows: the page must be loaded again. */
export class OtherVersion extends Error {
  override readonly name = 'OtherVersion';
}

export class LiveModel {
  readonly series = new SeriesRing(HISTORY_FRAMES);
  services: readonly ServiceState[] = [];
  /** Newest first. A new array whenever they change: the table of them is rebuilt only then. */
  letters: readonly DeadLetter[] = [];

  /** Replaces everything. The server sends the history first after every reconnection. */
  restart({ names, samples, services, letters }: History): void {
    if (names.join() !== seriesNames.join()) throw new OtherVersion('load this page again');
    this.series.clear();
    for (const { at, values } of samples) this.series.push(at, values);
    this.services = services;
    this.letters = [];
    this.#add(letters);
  }

  add({ at, values, services, letters }: Frame): void {
    this.series.push(at, values);
    this.services = services;
    if (letters.length > 0) this.#add(letters);
  }

  #add(letters: readonly DeadLetter[]): void {
    this.letters = [...letters.toReversed(), ...this.letters].slice(0, LETTERS);
  }
}

/** What is wrong with a service, in a few words that fit into a box; null if nothing is. */
export function troubleOf(service: string, services: readonly ServiceState[]): string | null {
  const processes = services.filter((state) => state.service === service);
  const silent = processes.filter(({ downSince }) => downSince !== null).length;
  const waiting = processes.filter(({ waitingFor }) => waitingFor !== null).length;
  if (silent > 0) return `${amount(silent, processes.length)}does not answer`;
  return waiting > 0 ? `${amount(waiting, processes.length)}not ready yet` : null;
}

/** True if at least one process of the service answers and is ready. */
export function isServing(service: string, services: readonly ServiceState[]): boolean {
  return services.some(
    (state) => state.service === service && state.downSince === null && state.waitingFor === null,
  );
}

function amount(some: number, all: number): string {
  return all === 1 ? '' : `${some} of ${all} `;
}
