/** The OpenAPI 3.1 document, made from the schemas of the routes and nothing else. */
import type { FastifyInstance, RouteOptions } from 'fastify';
import { PROBLEM_TYPE, problemSchema } from './problem.ts';

interface ObjectSchema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

interface RouteSchema {
  readonly summary?: string;
  readonly params?: ObjectSchema;
  readonly querystring?: ObjectSchema;
  readonly body?: unknown;
  readonly response?: Readonly<Record<string, unknown>>;
}

type Schemas = Record<string, unknown>;

export const OPENAPI_PATH = '/openapi.json';

/** Call before the routes are added. */
export function serveOpenapi(api: FastifyInstance): void {
  const paths: Record<string, Record<string, unknown>> = {};
  const schemas: Schemas = {};
  api.addHook('onRoute', (route) => {
    if (route.url === OPENAPI_PATH || route.method === 'HEAD') return;
    const path = route.url.replace(/:(\w+)/g, '{$1}');
    const methods = Array.isArray(route.method) ? route.method : [route.method];
    for (const method of methods) {
      const described = named(operation(route), schemas);
      paths[path] = { ...paths[path], [method.toLowerCase()]: described };
    }
  });
  const info = { title: 'Freshet', version: '1', description: 'Recommendations, always fresh' };
  const securitySchemes = { token: { type: 'http', scheme: 'bearer' } };
  const components = { securitySchemes, schemas };
  const security = [{ token: [] }, {}];
  api.get(OPENAPI_PATH, async () => ({ openapi: '3.1.0', info, components, security, paths }));
}

/** Replaces each schema with a title by a reference: generators make a type of each. */
function named(part: unknown, schemas: Schemas): unknown {
  if (Array.isArray(part)) return part.map((each) => named(each, schemas));
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([key, each]) => [key, named(each, schemas)]);
  const copy = Object.fromEntries(entries);
  if (typeof copy.title !== 'string') return copy;
  schemas[copy.title] = copy;
  return { $ref: `#/components/schemas/${copy.title}` };
}

function operation(route: RouteOptions): Record<string, unknown> {
  const schema = (route.schema ?? {}) as RouteSchema;
  const answers = Object.entries(schema.response ?? {}).map(([status, answer]) => [
    status,
    { description: 'the answer', content: { 'application/json': { schema: answer } } },
  ]);
  const refused = {
    description: 'why the request was refused',
    content: { [PROBLEM_TYPE]: { schema: problemSchema } },
  };
  return {
    ...(schema.summary === undefined ? {} : { summary: schema.summary }),
    parameters: [...parameters('path', schema.params), ...parameters('query', schema.querystring)],
    ...(schema.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schema.body } },
          },
        }),
    responses: { ...Object.fromEntries(answers), default: refused },
  };
}

function parameters(place: 'path' | 'query', schema: ObjectSchema = {}): unknown[] {
  return Object.entries(schema.properties ?? {}).map(([name, each]) => ({
    name,
    in: place,
    required: place === 'path' || (schema.required ?? []).includes(name),
    schema: each,
  }));
}
