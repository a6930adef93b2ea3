/** The types of packages/client, made from the OpenAPI document of the scorer. */

interface Schema {
  readonly $ref?: string;
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
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const HEADER = `/**
 * Every route of the HTTP API with its parameters, body and answer. Made from the OpenAPI document
 * of the scorer by test/client.test.ts, which fails if the two differ: with -u it writes this file.
 */
`;

/** What a caller leaves out she may also give as undefined; answers are JSON and never do. */
type Use = 'asked' | 'answered';

export function operationsSource({ paths, components }: OpenapiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      return `  /** ${operation.summary} */\n  '${method.toUpperCase()} ${path}': ${typesOf(operation)};\n`;
    }),
  );
  const bodies = JSON.stringify(Object.values(paths).map(({ post }) => post?.requestBody));
  const types = Object.entries(components.schemas)
    .filter(([name]) => name !== 'Problem')
    .map(([name, schema]) => {
      const use = bodies.includes(`/${name}"`) ? 'asked' : 'answered';
      return `export interface ${name} ${typeOf(schema, use)}\n`;
    });
  const body = operations.sort(byRoute).join('');
  return `${HEADER}\n${types.join('\n')}\nexport interface Operations {\n${body}}\n`;
}

function byRoute(a: string, b: string): number {
  const route = (text: string) => /'(\w+) (.*)'/.exec(text)?.slice(1).reverse().join(' ') ?? text;
  return route(a) < route(b) ? -1 : 1;
}

function typesOf({ parameters, requestBody, responses }: Operation): string {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const answer = Object.values(responses)[0]?.content['application/json'];
  const fields = query.map(({ name, schema }) => field(name, schema, true, 'asked'));
  const body = requestBody?.content['application/json']?.schema;
  const types = [
    ...(fields.length === 0 ? [] : [`query: { ${fields.join(' ')} };`]),
    ...(body ? [`body: ${typeOf(body, 'asked')};`] : []),
    `answer: ${typeOf(answer?.schema, 'answered')};`,
  ];
  return `{\n${types.join('\n')}\n}`;
}

function typeOf(schema: Schema = {}, use: Use): string {
  if (schema.$ref) return schema.$ref.replace(/.*\//, '');
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map((each) => typeOf(each, use)).join(' | ');
  const types = [schema.type ?? 'unknown'].flat();
  return types.map((type) => plainTypeOf(type, schema, use)).join(' | ');
}

function plainTypeOf(type: string, schema: Schema, use: Use): string {
  if (type === 'integer') return 'number';
  if (type === 'array') return `readonly (${typeOf(schema.items, use)})[]`;
  if (type !== 'object') return type;
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).map(([name, each]) =>
    field(name, each, !required.includes(name), use),
  );
  return `{ ${fields.join(' ')} }`;
}

function field(name: string, schema: Schema, isOptional: boolean, use: Use): string {
  const about = schema.description === undefined ? '' : `\n/** ${schema.description} */\n`;
  const orNone = isOptional && use === 'asked' ? ' | undefined' : '';
  return `${about}readonly ${name}${isOptional ? '?' : ''}: ${typeOf(schema, use)}${orNone};`;
}
