/** Reads server-sent events out of text that comes in pieces, cut anywhere. */
import { assert } from './assert.ts';

export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** Far above any history: a stream that sends more without an end of event is not ours. */
const EVENT_LIMIT = 8 << 20;

export function eventText(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

export class EventStream {
  #rest = '';

  /** The events that are complete with this piece; comments and unknown fields are left out. */
  read(piece: string): StreamEvent[] {
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
