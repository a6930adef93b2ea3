/**
 * The line to the server: a stream of events that is opened again by itself whenever it breaks or falls
 * silent. Read with fetch, because an EventSource cannot send a token.
 */
import { EventStream } from '../live/event-stream.ts';
import type { Frame, History } from '../live/frame.ts';
import { OtherVersion } from '../live/live-model.ts';
import { ask, TokenNeeded } from './server.ts';

interface FeedListener {
  restart(history: History): void;
  add(frame: Frame): void;
  connected(): void;
  /** It is being opened again; until then, what to tell the user. */
  lost(words: string): void;
  /** Resolves once there is another token to try. */
  tokenNeeded(): Promise<void>;
}

/** Frames come every second and heartbeats every five: after this long nobody is there. */
const SILENT_MS = 12_000;
const AGAIN_MS = 1_000;
const LOST = 'connection lost: trying again …';

export async function follow(listener: FeedListener): Promise<never> {
  for (;;) {
    try {
      await read(listener);
      listener.lost(LOST);
    } catch (error) {
      // Whatever broke the line, the cure is the same: open it again, and the history tells the rest.
      const isOther = error instanceof OtherVersion;
      listener.lost(isOther ? 'another version: load this page again' : LOST);
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
