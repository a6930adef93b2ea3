/** A real schema registry on loopback: Apicurio, by the API of Confluent that it speaks. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Child, freePort, type stepsTo } from '@freshet/local';
import { fromMaven } from '../../packages/local/src/maven.ts';

const POM = fileURLToPath(new URL('./pom.xml', import.meta.url));
const START_LIMIT_MS = 180_000;

/** The folder of the registry's program; Maven fetches it the first time. */
export function registryProgram(steps: ReturnType<typeof stepsTo>): Promise<string> {
  const instead = 'without which its tests cannot run';
  const goal = 'unpack-dependencies';
  return fromMaven({ name: 'Apicurio', pom: POM, goal, size: '142 MB', instead }, steps);
}

interface Subject {
  readonly subject: string;
  readonly schema: object | string;
  readonly schemaType?: 'AVRO' | 'JSON' | 'PROTOBUF';
  readonly references?: readonly { name: string; subject: string; version: number }[];
}

export class RegistryServer {
  private constructor(
    readonly child: Child,
    readonly url: string,
  ) {}

  static async start(program: string, folder: string): Promise<RegistryServer> {
    const port = await freePort();
    const jar = readdirSync(program).find((name) => name.endsWith('-runner.jar')) ?? '';
    const settings = { 'quarkus.http.host': '127.0.0.1', 'quarkus.http.port': port };
    const child = Child.start({
      name: 'Apicurio',
      command: 'java',
      args: [
        ...['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'],
        ...Object.entries(settings).map(([name, value]) => `-D${name}=${value}`),
        ...['-jar', join(program, jar)],
      ],
      logFile: join(folder, 'apicurio.log'),
      folder,
    });
    const url = `http://127.0.0.1:${port}/apis/ccompat/v7`;
    const answers = () =>
      fetch(`${url}/subjects`).then(
        ({ ok }) => ok,
        () => false,
      );
    await child.until(answers, START_LIMIT_MS);
    return new RegistryServer(child, url);
  }

  /** Returns the id of the schema. */
  async register({ subject, schema, ...more }: Subject): Promise<number> {
    const text = typeof schema === 'string' ? schema : JSON.stringify(schema);
    const response = await fetch(`${this.url}/subjects/${subject}/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ schema: text, ...more }),
    });
    const answer = (await response.json()) as { id?: number };
    if (answer.id === undefined) throw new Error(`${subject}: ${JSON.stringify(answer)}`);
    return answer.id;
  }
}
