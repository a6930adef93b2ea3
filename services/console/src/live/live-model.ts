/** What does an open page know? Bounded, whatever it is fed and for however long. */
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

/** The server speaks of other figures than this page knows: only loading it again helps. */
export class OtherVersion extends Error {
  override readonly name = 'OtherVersion';
}

export class LiveModel {
  readonly series = new SeriesRing(HISTORY_FRAMES);
  services: readonly ServiceState[] = [];
  /** Newest first. Another array whenever they change, so that a table of them is rebuilt only then. */
  letters: readonly DeadLetter[] = [];

  /** Replaces everything: it comes first after every reconnection, and tells what was missed. */
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
