/** The types of packages/client, made from the OpenAPI document of the scorer. */

interface Schema {
  readonly title?: string;
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
 * Every route of the HTTP API with its parameters, body and answer. Made from the OpenAPI document
 * of the scorer by test/client.test.ts, which fails if the two differ: with -u it writes this file.
 */
`;

export function operationsSource(document: OpenapiDocument): string {
  const titled = new Map<string, string>();
  const operations = render(document, titled);
  const types = [...titled].map(([title, type]) => `export interface ${title} ${type}\n`);
  return `${HEADER}\n${types.join('\n')}\n${operations}`;
}

interface Place {
  /** Types of objects with a title go here, and are referred to by it. */
  readonly titled: Map<string, string>;
  /** What a caller leaves out she may also give as undefined; answers are JSON and never do. */
  readonly isAnswer: boolean;
}

function render({ paths }: OpenapiDocument, titled: Place['titled']): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      return `  /** ${operation.summary} */\n  '${method.toUpperCase()} ${path}': ${typesOf(operation, titled)};\n`;
    }),
  );
  return `export interface Operations {\n${operations.sort(byRoute).join('')}}\n`;
}

function byRoute(a: string, b: string): number {
  const route = (text: string) => /'(\w+) (.*)'/.exec(text)?.slice(1).reverse().join(' ') ?? text;
  return route(a) < route(b) ? -1 : 1;
}

function typesOf(
  { parameters, requestBody, responses }: Operation,
  titled: Place['titled'],
): string {
  const asked = { titled, isAnswer: false };
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const answer = Object.values(responses)[0]?.content['application/json'];
  const fields = query.map(({ name, schema }) => field(name, schema, true, asked));
  const body = requestBody?.content['application/json']?.schema;
  const types = [
    ...(fields.length === 0 ? [] : [`query: { ${fields.join(' ')} };`]),
    ...(body ? [`body: ${typeOf(body, asked)};`] : []),
    `answer: ${typeOf(answer?.schema, { titled, isAnswer: true })};`,
  ];
  return `{\n${types.join('\n')}\n}`;
}

function typeOf(schema: Schema = {}, place: Place): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map((each) => typeOf(each, place)).join(' | ');
  const types = [schema.type ?? 'unknown'].flat();
  return types.map((type) => plainTypeOf(type, schema, place)).join(' | ');
}

function plainTypeOf(type: string, schema: Schema, place: Place): string {
  if (type === 'integer') return 'number';
  if (type === 'array') return `readonly (${typeOf(schema.items, place)})[]`;
  if (type !== 'object') return type;
  const { title, properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).map(([name, each]) =>
    field(name, each, !required.includes(name), place),
  );
  const source = `{ ${fields.join(' ')} }`;
  if (title === undefined) return source;
  place.titled.set(title, source);
  return title;
}

function field(name: string, schema: Schema, isOptional: boolean, place: Place): string {
  const about = schema.description === undefined ? '' : `\n/** ${schema.description} */\n`;
  const orNone = isOptional && !place.isAnswer ? ' | undefined' : '';
  return `${about}readonly ${name}${isOptional ? '?' : ''}: ${typeOf(schema, place)}${orNone};`;
}
