/** Asks a schema registry by Confluent's API, which Apicurio, Karapace and Redpanda speak too. */
import { type HttpAnswer, httpRequest } from '@freshet/stream';
import { connectionProblem, ServerAway } from '@freshet/telemetry';

interface RegistryClientOptions {
  readonly url: string;
  /** The header `authorization`; empty: none. */
  readonly authorization: string;
  /** PEM; empty: the authorities that Node trusts. */
  readonly ca: string;
  readonly timeoutMs: number;
}

export interface SentSchema {
  readonly schema: string;
  /** Absent: AVRO. */
  readonly schemaType?: string;
  readonly references?: readonly { readonly subject: string; readonly version: number }[];
}

const ADVICE = {
  untrusted: 'SCHEMA_REGISTRY_CA_LOCATION must name the authority that signed it',
  misnamed: 'SCHEMA_REGISTRY_URL must use a name that the certificate has',
  foreign: 'check SCHEMA_REGISTRY_URL: http:// is without TLS, https:// with it',
};
/** Codes in the body that only a registry sends: a wrong URL is answered with another 404. */
const NOT_FOUND_CODES = { from: 40_400, to: 40_499 } as const;

export class RegistryClient {
  readonly #base: string;

  constructor(private readonly options: RegistryClientOptions) {
    this.#base = options.url.replace(/\/+$/, '');
  }

  /** Undefined: the registry has no schema of this id. */
  schema(id: number): Promise<SentSchema | undefined> {
    return this.#get(`/schemas/ids/${id}`, isSchema);
  }

  /** The subjects with this schema. Also deleted ones: their records are still in the log. */
  async subjects(id: number): Promise<string[]> {
    const versions = await this.#get(`/schemas/ids/${id}/versions?deleted=true`, isVersions);
    return [...new Set(versions?.map(({ subject }) => subject))];
  }

  /** Undefined: the subject has no such version. */
  version(subject: string, version: number): Promise<SentSchema | undefined> {
    return this.#get(`/subjects/${encodeURIComponent(subject)}/versions/${version}`, isSchema);
  }

  async #get<T>(path: string, isExpected: (body: unknown) => body is T): Promise<T | undefined> {
    const { status, text } = await this.#ask(path);
    const body = parsed(text);
    if (status === 200 && isExpected(body)) return body;
    if (status === 404 && isNotFound(body)) return undefined;
    throw this.#away(`it answered ${status} to GET ${path}${hintAtStatus(status)}`);
  }

  async #ask(path: string): Promise<HttpAnswer> {
    const { authorization, ca, timeoutMs } = this.options;
    const headers = {
      accept: 'application/json',
      ...(authorization === '' ? {} : { authorization }),
    };
    try {
      return await httpRequest(`${this.#base}${path}`, { headers, ca, timeoutMs });
    } catch (error) {
      throw this.#away(connectionProblem(error as Error, ADVICE), error);
    }
  }

  /** The registry did not answer, or not as a registry does: says nothing about the record. */
  #away(what: string, cause?: unknown): ServerAway {
    return new ServerAway(`the schema registry ${this.#base}: ${what}`, { cause });
  }
}

function hintAtStatus(status: number): string {
  if (status === 429 || status >= 500) return ''; // it is busy or broken: wait
  return status === 401 || status === 403
    ? ' (check SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD, or SCHEMA_REGISTRY_TOKEN)'
    : ' (check SCHEMA_REGISTRY_URL)';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no registry: the caller says so
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isSchema(body: unknown): body is SentSchema {
  return isObject(body) && typeof body.schema === 'string';
}

function isVersions(body: unknown): body is readonly { readonly subject: string }[] {
  return Array.isArray(body) && body.every((each) => typeof each?.subject === 'string');
}

function isNotFound(body: unknown): boolean {
  const code = isObject(body) ? Number(body.error_code) : Number.NaN;
  return code >= NOT_FOUND_CODES.from && code <= NOT_FOUND_CODES.to;
}
