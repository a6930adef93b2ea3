/** The types of packages/client, made from the OpenAPI document of the scorer. */

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly description?: string;
}

interface Operation {
  readonly summary?: string;
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: Schema }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const HEADER = `/**
 * Every route of the HTTP API with its parameters, body and answer. Made from the OpenAPI document of the scorer by
 * test/client.test.ts, which fails if the two differ; \`npx vitest run --project unit test/client.test.ts -u\` makes it anew.
 */
`;

export function operationsSource({ paths }: OpenapiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      return `  /** ${operation.summary} */\n  '${method.toUpperCase()} ${path}': ${typesOf(operation)};\n`;
    }),
  );
  return `${HEADER}\nexport interface Operations {\n${operations.sort(byRoute).join('')}}\n`;
}

function byRoute(a: string, b: string): number {
  const route = (text: string) => /'(\w+) (.*)'/.exec(text)?.slice(1).reverse().join(' ') ?? text;
  return route(a) < route(b) ? -1 : 1;
}

function typesOf({ parameters, requestBody, responses }: Operation): string {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const answer = Object.values(responses)[0]?.content['application/json'];
  const fields = query.map(({ name, schema }) => field(name, schema, true));
  return `{
    query: ${fields.length === 0 ? 'Record<string, never>' : `{ ${fields.join(' ')} }`};
    body: ${requestBody ? typeOf(requestBody.content['application/json']?.schema) : 'undefined'};
    answer: ${typeOf(answer?.schema)};
  }`;
}

function typeOf(schema: Schema = {}): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  const types = [schema.type ?? 'unknown'].flat();
  return types.map((type) => plainTypeOf(type, schema)).join(' | ');
}

function plainTypeOf(type: string, schema: Schema): string {
  if (type === 'integer') return 'number';
  if (type === 'array') return `readonly (${typeOf(schema.items)})[]`;
  if (type !== 'object') return type;
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).map(([name, each]) =>
    field(name, each, !required.includes(name)),
  );
  return `{ ${fields.join(' ')} }`;
}

function field(name: string, schema: Schema, isOptional: boolean): string {
  const about = schema.description === undefined ? '' : `\n/** ${schema.description} */\n`;
  return `${about}readonly ${name}${isOptional ? '?' : ''}: ${typeOf(schema)};`;
}
