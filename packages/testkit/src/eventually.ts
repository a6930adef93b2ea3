/** On a machine that does much else, what takes a second alone may take a minute. */
const LIMIT_MS = 180_000;

/** Waits for a condition and not for a fixed time: polls until `look` finds something. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false | 0>,
  limitMs = LIMIT_MS,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  let last: unknown;
  // The pauses grow, because polling takes time from the system that is waited for.
  for (let pauseMs = 20; ; pauseMs = Math.min(1.1 * pauseMs, 200)) {
    try {
      const found = await look();
      if (found) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) {
      throw new Error(`waited ${limitMs / 1000} s in vain for ${what}`, { cause: last });
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
