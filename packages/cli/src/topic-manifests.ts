/** The topics of a model for whoever creates them: as commands, for Terraform, for Strimzi. */
import type { PlannedTopic } from '@freshet/stream';

/** The parts of one topic; `brokers`: for the commands, comma separated. */
type Parts = (topic: PlannedTopic, brokers: string) => readonly string[];

/** Writes the parts of each topic with `within` between them, and the topics with `between`. */
const form = (within: string, between: string, parts: Parts) => {
  return (topics: readonly PlannedTopic[], brokers: string) =>
    topics.map((topic) => parts(topic, brokers).join(within)).join(between);
};

export const manifestForms = {
  'kafka-topics': form(' ', '\n', ({ name, partitions, replication, config }, brokers) => [
    `kafka-topics.sh --bootstrap-server ${brokers} --create --if-not-exists`,
    `--topic ${name} --partitions ${partitions}`,
    ...(replication > 0 ? [`--replication-factor ${replication}`] : []),
    ...entries(config, (key, value) => `--config ${key}=${value}`),
  ]),
  terraform: form('\n', '\n\n', ({ name, partitions, replication, config }) => [
    `resource "kafka_topic" "${name.replace(/[^A-Za-z0-9]+/g, '_')}" {`,
    `  name               = "${name}"`,
    `  partitions         = ${partitions}`,
    `  replication_factor = ${replication}`,
    '  config = {',
    ...entries(config, (key, value) => `    "${key}" = "${value}"`),
    '  }',
    '}',
  ]),
  strimzi: form('\n', '\n---\n', ({ name, partitions, replication, config }) => [
    'apiVersion: kafka.strimzi.io/v1beta2',
    'kind: KafkaTopic',
    'metadata:',
    `  name: ${name.toLowerCase().replace(/[^a-z0-9.]+/g, '-')}`,
    '  labels:',
    '    strimzi.io/cluster: my-cluster # the name of your Kafka resource',
    'spec:',
    `  topicName: ${name}`,
    `  partitions: ${partitions}`,
    ...(replication > 0 ? [`  replicas: ${replication}`] : []),
    '  config:',
    ...entries(config, (key, value) => `    ${key}: ${JSON.stringify(value)}`),
  ]),
} as const;

export type ManifestForm = keyof typeof manifestForms;

function entries(
  config: PlannedTopic['config'],
  line: (key: string, value: string) => string,
): string[] {
  return Object.entries(config).map(([key, value]) => line(key, value));
}
