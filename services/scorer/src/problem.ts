/** Answers to requests that fail or are refused: problem details (RFC 9457). */
import { STATUS_CODES } from 'node:http';
import { PoisonRecord } from '@freshet/events';
import type { FastifyReply } from 'fastify';
import { NoSource } from './source-names.ts';
import { NotThereYet } from './user-reader.ts';

export const PROBLEM_TYPE = 'application/problem+json';

export function problem(
  reply: FastifyReply,
  status: number,
  detail: string,
  more: Readonly<Record<string, unknown>> = {},
): FastifyReply {
  return reply
    .code(status)
    .type(PROBLEM_TYPE)
    .send(problemText(status, detail, more));
}

export function problemText(
  status: number,
  detail: string,
  more: Readonly<Record<string, unknown>> = {},
): string {
  const title = STATUS_CODES[status] ?? 'Error';
  return JSON.stringify({ type: 'about:blank', title, status, detail, ...more });
}

/** The answer to an error that the client can correct; undefined if the error is ours. */
export function refusal(
  error: Error & { statusCode?: number },
): { status: number; detail: string; more?: Record<string, unknown> } | undefined {
  if (error instanceof NotThereYet) {
    return { status: 409, detail: error.message, more: { position: error.position } };
  }
  if (error instanceof NoSource) return { status: 400, detail: error.message };
  if (error instanceof PoisonRecord) {
    return { status: 400, detail: error.message, more: { reason: error.reason } };
  }
  const status = error.statusCode ?? 500;
  return status < 500 ? { status, detail: error.message } : undefined;
}

export const problemSchema = {
  title: 'Problem',
  type: 'object',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    position: {
      type: 'integer',
      description: 'with 409: how far the ratings of that partition are applied',
    },
    reason: { type: 'string', description: 'with 400: the kind of mistake of a rating' },
  },
} as const;
