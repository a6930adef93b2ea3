/** A real single-node Kafka in KRaft mode on loopback, run from the jars that Maven resolved. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '@freshet/config';
import { explained } from './cause.ts';
import { Child, type Spawned } from './child.ts';
import { classArchive, formattedFolder, javaEnvironment, javaProperty, quickJava } from './java.ts';
import { accepts } from './ports.ts';

const run = promisify(execFile);

interface KafkaServerOptions {
  readonly jars: string;
  readonly folder: string;
  readonly port: number;
  readonly controllerPort: number;
  readonly spawned?: Spawned | undefined;
  /** Lines of its properties that are added or replaced. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Of the storage tool that prepares the folder, such as users with SCRAM passwords. */
  readonly formatArguments?: readonly string[];
  readonly javaOptions?: readonly string[];
}

/** Always the same: each folder has a cluster of its own, which nothing else can reach. */
const CLUSTER_ID = 'ZnJlc2hldC1sb2NhbC0wMQ';
/** Only a process that hangs takes so long: one that ends is noticed at once. */
const START_LIMIT_MS = 180_000;

/**
 * A broker that the controller has not heard for this long leads nothing any more. No other could
 * take over here, and on a busy machine one that lives may be silent for 10 s. A broker that was
 * killed is let in again only after the same time, so later starts keep Kafka's own limit of 9 s.
 */
const NEW_BROKER_SESSION_MS = 120_000;

export async function startKafka(options: KafkaServerOptions): Promise<Child> {
  const data = join(options.folder, 'kafka');
  mkdirSync(data, { recursive: true });
  const properties = join(options.folder, 'kafka.properties');
  const isNew = !existsSync(join(data, 'meta.properties'));
  const patience = isNew ? { 'broker.session.timeout.ms': NEW_BROKER_SESSION_MS } : {};
  writeFileSync(properties, propertiesOf(options, data, patience));
  if (isNew) await format(options, data, properties);
  const child = Child.start({
    name: 'Kafka',
    command: 'java',
    environment: javaEnvironment,
    args: [
      '-Xms256m',
      '-Xmx512m',
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
      '-Dorg.slf4j.simpleLogger.log.kafka.authorizer.logger=info', // says whom it refused what
      '-Dorg.slf4j.simpleLogger.showDateTime=true',
      ...(options.javaOptions ?? []),
      ...quickJava(options.jars, classArchive(options.jars)),
      'kafka.Kafka',
      properties,
    ],
    logFile: join(options.folder, 'kafka.log'),
    spawned: options.spawned,
  });
  await child.until(() => accepts(options.port), START_LIMIT_MS);
  return child;
}

async function format(
  { jars, formatArguments }: KafkaServerOptions,
  data: string,
  properties: string,
): Promise<void> {
  const formatted = formattedFolder(jars);
  if (formatArguments === undefined && existsSync(formatted)) {
    return cpSync(formatted, data, { recursive: true });
  }
  const java = quickJava(jars, classArchive(jars));
  const tool = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', properties];
  const env = childEnvironment(javaEnvironment);
  const formatting = run('java', [...java, ...tool, ...(formatArguments ?? [])], { env });
  await explained(`Kafka could not prepare ${data}`, formatting);
}

function propertiesOf(
  { port, controllerPort, properties }: KafkaServerOptions,
  data: string,
  patience: Readonly<Record<string, number>>,
): string {
  const lines: Record<string, string | number> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'log.dirs': data,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1000,
    'auto.create.topics.enable': 'false',
    'message.max.bytes': 4 << 20,
    'log.cleaner.dedupe.buffer.size': 4 << 20,
    ...patience,
    ...properties,
  };
  return Object.entries(lines)
    .map(([name, value]) => `${name}=${javaProperty(value)}\n`)
    .join('');
}
