/**
 * How bodies are read. Fastify would decode bytes that are not UTF-8 as U+FFFD, so that different
 * ids became the same, and would refuse an empty body that is called JSON, as many clients send it
 * with DELETE.
 */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';

export function readJsonBodies(api: FastifyInstance): void {
  const parse = api.getDefaultJsonParser('error', 'error');
  api.removeContentTypeParser(['text/plain', 'application/json']);
  const parseAs = { parseAs: 'buffer' } as const;
  api.addContentTypeParser<Buffer>('application/json', parseAs, (request, body, done) => {
    if (body.length === 0) return void done(null, undefined);
    if (!isUtf8(body)) return void done(new NotUtf8('the body is not UTF-8, or is compressed'));
    return parse(request, body.toString(), done);
  });
}

class NotUtf8 extends Error {
  override readonly name = 'NotUtf8';
  readonly statusCode = 400;
}
