/** Reads the event stream, and reconnects. By fetch: an EventSource cannot send a token. */
import { EventStream } from '../live/event-stream.ts';
import type { Frame, History } from '../live/frame.ts';
import { OtherVersion } from '../live/live-model.ts';
import { ask, TokenNeeded } from './server.ts';

interface FeedListener {
  restart(history: History): void;
  add(frame: Frame): void;
  connected(): void;
  /** The stream broke and will be opened again; `words` are for the user. */
  lost(words: string): void;
  /** Resolves once the user has typed another token. */
  tokenNeeded(): Promise<void>;
}

/** Frames come every second and heartbeats every 5 s: two heartbeats were missed. */
const SILENT_MS = 12_000;
const AGAIN_MS = 1_000;
const LOST = 'connection lost: trying again …';

export async function follow(listener: FeedListener): Promise<never> {
  for (;;) {
    try {
      await read(listener);
      listener.lost(LOST);
    } catch (error) {
      // Whatever the error, the page reconnects, and the history brings what it has missed.
      const isOther = error instanceof OtherVersion;
      listener.lost(isOther ? 'the server was updated: load this page again' : LOST);
      if (error instanceof TokenNeeded) await listener.tokenNeeded();
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function read(listener: FeedListener): Promise<void> {
  const line = new AbortController();
  let silence = setTimeout(() => line.abort(), SILENT_MS);
  try {
    const response = await ask('/events', { signal: line.signal });
    if (response.body === null) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const events = new EventStream();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(() => line.abort(), SILENT_MS);
      for (const { name, data } of events.read(value)) {
        if (name === 'history') listener.restart(JSON.parse(data) as History);
        if (name === 'frame') listener.add(JSON.parse(data) as Frame);
        listener.connected();
      }
    }
  } finally {
    clearTimeout(silence);
    line.abort();
  }
}
