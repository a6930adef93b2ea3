/** Server-sent events: written by the server, and read by the page from text cut anywhere. */
import { assert } from './assert.ts';

/** Characters in one event, far above any history: a longer one is not from our server. */
const EVENT_LIMIT = 8 << 20;

export function eventText(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

export class EventStream {
  #rest = '';

  /** The events that this piece completes, without comments and unknown fields. */
  read(piece: string) {
    const blocks = (this.#rest + piece).split('\n\n');
    const rest = blocks.pop();
    assert(rest !== undefined, 'what is split has at least one piece');
    this.#rest = rest;
    if (this.#rest.length > EVENT_LIMIT) throw new Error('an event without an end');
    return blocks.flatMap((block) => {
      const lines = block.split('\n');
      const field = (name: string) =>
        lines
          .filter((line) => line.startsWith(`${name}: `))
          .map((line) => line.slice(name.length + 2))
          .join('\n');
      const data = field('data');
      return data === '' ? [] : [{ name: field('event') || 'message', data }];
    });
  }
}
