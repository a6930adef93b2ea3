/** The tables of services and of dead letters. Only cells that change are written. */
import { assert } from '../live/assert.ts';
import type { DeadLetter, ServiceState } from '../live/frame.ts';
import type { LiveModel } from '../live/live-model.ts';
import { bytes, duration } from '../live/wording.ts';
import { found, made, say } from './element.ts';

export class ServicesTable {
  readonly #body = found('services', HTMLTableSectionElement);

  show({ services }: LiveModel): void {
    while (this.#body.rows.length > services.length) this.#body.deleteRow(-1);
    services.forEach((state, nth) => {
      const row = this.#body.rows[nth] ?? this.#body.appendChild(newRow());
      row.classList.toggle('stopped', state.downSince !== null);
      row.dataset.service = state.service;
      row.title = state.address;
      wordsOf(state).forEach((text, at) => {
        const cell = row.cells[at];
        assert(cell !== undefined, 'a row has a cell for each word');
        say(cell, text);
      });
    });
  }
}

function newRow(): HTMLTableRowElement {
  const cells = Array.from({ length: 5 }, () => made('td'));
  return made('tr', {}, made('th', { scope: 'row' }), ...cells);
}

function wordsOf(state: ServiceState): string[] {
  const { service, downSince, waitingFor, startedAt, memoryBytes, loopDelaySeconds } = state;
  const health =
    downSince !== null
      ? `has not answered since ${timeOf(downSince)}`
      : waitingFor === null
        ? 'ready'
        : `waiting for ${waitingFor}`;
  return [
    service,
    health,
    duration(startedAt === null ? Number.NaN : (Date.now() - startedAt) / 1000),
    bytes(memoryBytes ?? Number.NaN),
    duration(loopDelaySeconds ?? Number.NaN),
    state.version ?? '–',
  ];
}

export class LettersTable {
  readonly #table = found('letters-table', HTMLTableElement);
  readonly #body = found('letters', HTMLTableSectionElement);
  readonly #none = found('no-letters', HTMLElement);
  #shown: readonly DeadLetter[] | undefined;

  show({ letters }: LiveModel): void {
    if (letters === this.#shown) return;
    this.#shown = letters;
    this.#table.hidden = letters.length === 0;
    this.#none.hidden = letters.length > 0;
    this.#body.replaceChildren(...letters.map(rowOf));
  }
}

function rowOf({ at, reason, source, bytes: size, preview }: DeadLetter): HTMLTableRowElement {
  const cell = (text: string) => made('td', {}, text);
  const glimpse = made('td', {}, made('code', {}, preview));
  return made('tr', {}, cell(timeOf(at)), cell(reason), cell(source), cell(bytes(size)), glimpse);
}

function timeOf(at: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const time = date.toTimeString().slice(0, 8);
  return isToday ? time : `${date.toISOString().slice(0, 10)} ${time}`;
}
