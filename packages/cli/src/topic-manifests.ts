/** The topics of a model for whoever creates them: as commands, for Terraform, for Strimzi. */
import type { PlannedTopic } from '@freshet/stream';

/** The parts of one topic; `brokers`: for the commands, comma separated. */
type Parts = (topic: PlannedTopic, brokers: string) => readonly string[];

/** Writes the parts of each topic with `within` between them, and the topics with `between`. */
const form = (within: string, between: string, parts: Parts) => {
  return (topics: readonly PlannedTopic[], brokers: string) =>
    topics.map((topic) => parts(topic, brokers).join(within)).join(between);
};

const blocks = form('\n', '\n\n', ({ name, partitions, replication, config }) => [
  `resource "kafka_topic" "${name.replace(/[^A-Za-z0-9]+/g, '_').replace(/^(?=\d)/, '_')}" {`,
  `  name               = "${name}"`,
  `  partitions         = ${partitions}`,
  `  replication_factor = ${replication > 0 ? replication : 'var.replication_factor'}`,
  '  config = {',
  ...entries(config, (key, value, width) => `    ${`"${key}"`.padEnd(width + 2)} = "${value}"`),
  '  }',
  '}',
]);

export const manifestForms = {
  'kafka-topics': form(' ', '\n', ({ name, partitions, replication, config }, brokers) => [
    `kafka-topics.sh --bootstrap-server ${brokers} --create --if-not-exists`,
    `--topic ${name} --partitions ${partitions}`,
    ...(replication > 0 ? [`--replication-factor ${replication}`] : []),
    ...entries(config, (key, value) => `--config ${key}=${value}`),
  ]),
  terraform: (topics: readonly PlannedTopic[], brokers: string) => {
    const isOpen = topics.some(({ replication }) => replication < 0);
    return (isOpen ? REPLICATION_VARIABLE : '') + blocks(topics, brokers);
  },
  strimzi: form('\n', '\n---\n', ({ name, partitions, replication, config }) => [
    'apiVersion: kafka.strimzi.io/v1 # v1beta2 before Strimzi 0.49',
    'kind: KafkaTopic',
    'metadata:',
    `  name: ${kubernetesName(name)}`,
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

/** The provider refuses -1, which stands for the default of the brokers: Terraform asks for it. */
const REPLICATION_VARIABLE = `variable "replication_factor" {
  description = "Replicas of each topic of Freshet, like default.replication.factor of the brokers"
  type        = number
}

`;

/** Parts between dots must begin and end with a letter or a digit. */
function kubernetesName(topic: string): string {
  return topic.replace(/-*\.-*/g, '.');
}

export type ManifestForm = keyof typeof manifestForms;

function entries(
  config: PlannedTopic['config'],
  line: (key: string, value: string, width: number) => string,
): string[] {
  const width = Math.max(...Object.keys(config).map((key) => key.length));
  return Object.entries(config).map(([key, value]) => line(key, value, width));
}
