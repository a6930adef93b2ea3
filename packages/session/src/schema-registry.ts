/**
 * What do the schema ids in records mean? A registry says it, once for each id: what an id means
 * never changes. A schema that the registry does not have, or whose subject is not allowed, is the
 * fault of the record. A registry that does not answer is not: then records wait until it does.
 */
import { matcher, type Settings } from '@freshet/config';
import { type RegisteredSchema, registeredSchema } from '@freshet/events';
import { type Log, metrics, untilAnswered } from '@freshet/telemetry';
import { RegistryClient, type SentSchema } from './registry-client.ts';

const limits = {
  ids: 1_000, // schemas in memory; topics of ratings have a handful
  unusableMs: 10_000, // so long a schema that was not found or not allowed is not asked for again
  references: 64, // schemas that one schema uses, directly or not
  // In flight at once. One by one, each made-up id would delay its partition by a round trip.
  lookUps: 16,
} as const;

interface SchemaRegistryOptions {
  readonly client: Pick<RegistryClient, 'schema' | 'subjects' | 'version'>;
  /** Patterns of the subjects that are allowed. */
  readonly subjects: readonly string[];
  readonly log: Pick<Log, 'warn' | 'info' | 'debug'>;
  readonly now?: () => number;
}

interface Known {
  readonly schema: Promise<RegisteredSchema>;
  /** From then on it is asked for again. */
  until: number;
}

/** Undefined if no registry is set. `sources`: the topics that ratings are read from. */
export function schemaRegistry(
  settings: Settings,
  sources: readonly string[],
  log: SchemaRegistryOptions['log'],
): SchemaRegistry | undefined {
  const { SCHEMA_REGISTRY_URL: url, SCHEMA_REGISTRY_SUBJECTS: given } = settings;
  if (url === '') return undefined;
  const client = new RegistryClient({
    url,
    authorization: authorizationOf(settings),
    ca: settings.SCHEMA_REGISTRY_CA_LOCATION,
    timeoutMs: settings.SCHEMA_REGISTRY_TIMEOUT_MS,
  });
  const usual = [...new Set(sources)].map((topic) => `${topic}-value`);
  const subjects = given.length > 0 ? given : usual;
  return new SchemaRegistry({ client, subjects, log });
}

function authorizationOf(settings: Settings): string {
  const { SCHEMA_REGISTRY_USERNAME: user, SCHEMA_REGISTRY_PASSWORD: password } = settings;
  const { SCHEMA_REGISTRY_TOKEN: token } = settings;
  if (token !== '') return `Bearer ${token}`;
  return user === '' ? '' : `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

export class SchemaRegistry {
  readonly #isAllowed: (subject: string) => boolean;
  readonly #now: () => number;
  /** By id; the first was used the longest time ago. */
  readonly #known = new Map<number, Known>();
  #waiting = 0;
  #problem: { readonly message: string; readonly since: number } | undefined;

  constructor(private readonly options: SchemaRegistryOptions) {
    this.#isAllowed = matcher(options.subjects);
    this.#now = options.now ?? Date.now;
  }

  /** Why records wait for the registry, for the answer of /readyz; null if none does. */
  get waitingFor(): string | null {
    return this.#problem?.message ?? null;
  }

  /** Throws ServerAway if the registry does not answer. */
  async lookUp(ids: ReadonlySet<number>): Promise<Map<number, RegisteredSchema>> {
    const found = new Map<number, RegisteredSchema>();
    const left = ids.values();
    const lookUpNext = async () => {
      // They share one iterator, so each takes the next id.
      for (const id of left) found.set(id, await this.#of(id));
    };
    await Promise.all(Array.from({ length: limits.lookUps }, lookUpNext));
    return found;
  }

  /** Waits until the registry answers; `between` is called between attempts, and may throw. */
  async awaitAll(
    ids: ReadonlySet<number>,
    between: () => Promise<void>,
  ): Promise<Map<number, RegisteredSchema>> {
    const attempt = () =>
      this.lookUp(ids).catch((error: Error) => {
        this.#failed(error);
        throw error;
      });
    // The first failure is told by #failed, in a line that says what to do.
    const log = { warn: this.options.log.debug.bind(this.options.log) };
    this.#waiting++;
    try {
      return await untilAnswered(attempt, { log, what: 'schemas were not found', between });
    } finally {
      if (--this.#waiting === 0) this.#answered();
    }
  }

  #failed({ message }: Error): void {
    const { log } = this.options;
    const since = this.#problem?.since ?? this.#now();
    if (this.#problem?.message !== message) {
      log.warn(`${message}. Ratings with a schema id wait until it answers`);
    }
    this.#problem = { message, since };
    metrics.serverAway.set({ server: 'schema-registry' }, (this.#now() - since) / 1_000);
  }

  /** Nobody waits any more. */
  #answered(): void {
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    metrics.serverAway.set({ server: 'schema-registry' }, 0);
    this.options.log.info('ratings no longer wait for the schema registry');
  }

  /** As known, or asked for: one request serves all partitions that ask for the same id. */
  #of(id: number): Promise<RegisteredSchema> {
    const known = this.#known.get(id);
    const current = known !== undefined && known.until > this.#now() ? known : this.#ask(id);
    // Deleted first, so that it moves to the end of the map's order.
    this.#known.delete(id);
    this.#known.set(id, current);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= limits.ids) break;
      this.#known.delete(oldest);
    }
    return current.schema;
  }

  #ask(id: number): Known {
    const asked = { schema: this.#schemaOf(id), until: Number.POSITIVE_INFINITY };
    asked.schema.then(
      ({ kind }) => {
        if (kind === 'unusable') asked.until = this.#now() + limits.unusableMs;
      },
      () => {
        asked.until = 0;
      },
    );
    return asked;
  }

  async #schemaOf(id: number): Promise<RegisteredSchema> {
    const { client, subjects } = this.options;
    // A registry might answer 400 to a negative id, and the partition would wait for ever.
    if (id < 0) return unusable('no schema registry has negative ids');
    const sent = await client.schema(id);
    if (sent === undefined) return unusable('the schema registry does not have it');
    const owners = await client.subjects(id);
    if (!owners.some(this.#isAllowed)) {
      const of = owners.length === 0 ? 'no subject' : `the subject ${owners.join(', ')}`;
      return unusable(
        `it belongs to ${of}, and SCHEMA_REGISTRY_SUBJECTS allows ${subjects.join(', ')}`,
      );
    }
    const { schema, schemaType = 'AVRO' } = sent;
    const references = new Map<string, string>();
    const missing = schemaType === 'AVRO' ? await this.#collect(sent, references) : undefined;
    if (missing !== undefined) return unusable(missing);
    return registeredSchema({ schemaType, schema, references: [...references.values()] });
  }

  /** Adds the schemas that a schema uses, each after those that it uses; returns what is wrong. */
  async #collect(
    { references = [] }: Pick<SentSchema, 'references'>,
    found: Map<string, string>,
    path: readonly string[] = [],
  ): Promise<string | undefined> {
    for (const { subject, version } of references) {
      const key = `${subject} version ${version}`;
      if (found.has(key)) continue;
      if (path.includes(key)) return `it refers to ${key}, which refers to itself`;
      if (path.length + found.size >= limits.references) {
        return `it refers to more than ${limits.references} other schemas`;
      }
      const sent = await this.options.client.version(subject, version);
      if (sent === undefined) return `it refers to ${key}, which the schema registry does not have`;
      const missing = await this.#collect(sent, found, [...path, key]);
      if (missing !== undefined) return missing;
      found.set(key, sent.schema);
    }
    return undefined;
  }
}

function unusable(why: string): RegisteredSchema {
  return { kind: 'unusable', why };
}
