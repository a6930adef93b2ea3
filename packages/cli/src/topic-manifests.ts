/** The topics of a model for whoever creates them: as commands, for Terraform, for Strimzi. */
import type { PlannedTopic } from '@freshet/stream';

/** `brokers`: for the commands; comma separated. */
type Form = (topics: readonly PlannedTopic[], brokers: string) => string;

export const manifestForms = {
  'kafka-topics': (topics, brokers) =>
    topics
      .map(({ name, partitions, replication, config }) =>
        [
          `kafka-topics.sh --bootstrap-server ${brokers} --create --if-not-exists`,
          `--topic ${name} --partitions ${partitions}`,
          ...(replication > 0 ? [`--replication-factor ${replication}`] : []),
          ...entries(config, (key, value) => `--config ${key}=${value}`),
        ].join(' '),
      )
      .join('\n'),
  terraform: (topics) =>
    topics
      .map(({ name, partitions, replication, config }) =>
        [
          `resource "kafka_topic" "${name.replace(/[^A-Za-z0-9]+/g, '_')}" {`,
          `  name               = "${name}"`,
          `  partitions         = ${partitions}`,
          `  replication_factor = ${replication}`,
          '  config = {',
          ...entries(config, (key, value) => `    "${key}" = "${value}"`),
          '  }',
          '}',
        ].join('\n'),
      )
      .join('\n\n'),
  strimzi: (topics) =>
    topics
      .map(({ name, partitions, replication, config }) =>
        [
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
        ].join('\n'),
      )
      .join('\n---\n'),
} as const satisfies Record<string, Form>;

export type ManifestForm = keyof typeof manifestForms;

function entries(
  config: PlannedTopic['config'],
  line: (key: string, value: string) => string,
): string[] {
  return Object.entries(config).map(([key, value]) => line(key, value));
}
