/** Sends every frame to all open pages as server-sent events. Drops pages that do not read. */
import type { ServerResponse } from 'node:http';
import { eventText } from './live/event-stream.ts';
import type { Frame, History } from './live/frame.ts';

/** More pages than a team opens. The next one is refused with 503. */
const VIEWER_LIMIT = 200;
/** A history and minutes of frames: a page with so much unread has stopped reading. */
const UNREAD_LIMIT_BYTES = 2 << 20;
/** Keeps proxies and pages from closing a connection on which no frame comes. */
const HEARTBEAT_MS = 5_000;

export class Broadcast {
  readonly #pages = new Set<ServerResponse>();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(private readonly changed: (viewers: number) => void) {}

  get viewers(): number {
    return this.#pages.size;
  }

  get isFull(): boolean {
    return this.#pages.size >= VIEWER_LIMIT;
  }

  /** Takes over the response: nobody else may write to it. */
  admit(response: ServerResponse, history: History): void {
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    response.on('close', () => this.#drop(response));
    response.on('error', () => this.#drop(response));
    this.#pages.add(response);
    this.#heartbeat ??= setInterval(() => this.#send(':\n\n'), HEARTBEAT_MS);
    response.write(eventText('history', history));
    this.changed(this.viewers);
  }

  deliver(frame: Frame): void {
    if (this.#pages.size > 0) this.#send(eventText('frame', frame));
  }

  async close(): Promise<void> {
    for (const page of this.#pages) page.end();
    clearInterval(this.#heartbeat);
  }

  #send(text: string): void {
    for (const page of this.#pages) {
      if (page.writableLength > UNREAD_LIMIT_BYTES) page.destroy();
      else page.write(text);
    }
  }

  #drop(response: ServerResponse): void {
    if (!this.#pages.delete(response)) return;
    if (this.#pages.size === 0) {
      clearInterval(this.#heartbeat);
      this.#heartbeat = undefined;
    }
    this.changed(this.viewers);
  }
}
