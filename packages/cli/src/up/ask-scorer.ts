/** One request for recommendations, as any client makes it. */
import type { ScorerAddress } from '@freshet/config';

interface Answer {
  readonly items: readonly { readonly item: string; readonly score: number }[];
  /** null: the list is the user's own. */
  readonly fallback: string | null;
}

/** Longer than a scorer waits for the rating that `after=` names (AFTER_MS). */
const LIMIT_MS = 2_000;

/** Undefined while the scorer cannot answer: it is starting, or a rating is not applied yet. */
export async function askScorer(
  { url, token }: ScorerAddress,
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
