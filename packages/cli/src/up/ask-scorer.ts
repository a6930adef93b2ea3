/** One request for recommendations, as any client makes it. */
import type { Settings } from '@freshet/config';

export interface Scorer {
  readonly url: string;
  /** Empty: none is needed. */
  readonly token: string;
}

/** The scorer of a system that runs elsewhere, or on this machine. */
export function scorerOf({ SCORER_URL, SCORER_PORT, HTTP_TOKEN }: Settings): Scorer {
  const url = SCORER_URL === '' ? `http://127.0.0.1:${SCORER_PORT}` : SCORER_URL;
  return { url: url.replace(/\/+$/, ''), token: HTTP_TOKEN };
}

interface Answer {
  readonly items: readonly { readonly item: string; readonly score: number }[];
  /** null: the list is the user's own. */
  readonly fallback: string | null;
}

/** Longer than a scorer waits for the rating that `after=` names (AFTER_MS). */
const LIMIT_MS = 2_000;

/** Undefined while the scorer cannot answer: it is starting, or a rating is not applied yet. */
export async function askScorer(
  { url, token }: Scorer,
  user: string,
  query: string,
): Promise<Answer | undefined> {
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
  const path = `/v1/recommendations/${encodeURIComponent(user)}?${query}`;
  try {
    const response = await fetch(url + path, { headers, signal: AbortSignal.timeout(LIMIT_MS) });
    return response.ok ? ((await response.json()) as Answer) : undefined;
  } catch {
    return undefined;
  }
}
