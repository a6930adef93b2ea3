/** One request over HTTP or HTTPS, to the token endpoint or the schema registry. */
import { request as requestPlainly } from 'node:http';
import { request as requestSecurely } from 'node:https';

interface HttpRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM; empty: the authorities that Node trusts. */
  readonly ca: string;
  readonly timeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** Larger than any schema or token, and small enough to be held in memory. */
const ANSWER_BYTES_LIMIT = 4 << 20;

/** Follows no redirect, so that credentials go to no other host. */
export function httpRequest(
  url: string,
  { method = 'GET', headers, body = '', ca, timeoutMs }: HttpRequest,
): Promise<HttpAnswer> {
  const request = url.startsWith('https:') ? requestSecurely : requestPlainly;
  const signal = AbortSignal.timeout(timeoutMs);
  const options = { method, headers, signal, ...(ca === '' ? {} : { ca }) };
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => {
      const isLate = error.name === 'AbortError';
      reject(isLate ? new Error(`it did not answer within ${timeoutMs} ms`) : error);
    };
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length <= ANSWER_BYTES_LIMIT) return;
        response.destroy(new Error(`its answer has more than ${ANSWER_BYTES_LIMIT} bytes`));
      });
      response.on('error', failed);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.on('error', failed).end(body);
  });
}
