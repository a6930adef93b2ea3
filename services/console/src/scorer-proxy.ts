/** Passes the page's requests on to the scorer, with the token that the scorer asks for. */
import type { ScorerAddress } from '@freshet/config';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The console passes on these requests and `POST /v1/ratings`, and nothing else of the API. */
const questions = [
  '/v1/recommendations/:user',
  '/v1/users/:user',
  '/v1/users/:user/because/:item',
  '/v1/items/popular',
  '/v1/items/:item/similar',
  '/v1/items/:item/next',
] as const;

/** Longer than the scorer waits for a rating that is named by after=. */
const ANSWER_LIMIT_MS = 5_000;

export function proxyScorer(api: FastifyInstance, scorer: ScorerAddress): void {
  for (const path of questions) {
    api.get(path, (request, reply) => passOn(scorer, request, reply));
  }
  api.post('/v1/ratings', (request, reply) => passOn(scorer, request, reply));
}

async function passOn(
  { url, token }: ScorerAddress,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { method, raw, body } = request;
  const headers = new Headers({ accept: 'application/json' });
  if (token !== '') headers.set('authorization', `Bearer ${token}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
  try {
    const asked = { method, headers, signal, body: JSON.stringify(body) };
    const answer = await fetch(`${url}${raw.url}`, asked);
    const text = await answer.text();
    return reply
      .code(answer.status)
      .type(answer.headers.get('content-type') ?? 'text/plain')
      .send(text);
  } catch {
    // Down, or too slow: the table of services shows which, and the scorer's log says why.
    return reply
      .code(502)
      .type('application/problem+json')
      .send({ title: 'Bad Gateway', status: 502, detail: 'the scorer does not answer' });
  }
}
