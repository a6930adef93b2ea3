import { plannedTopics } from '@freshet/stream';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { manifestForms } from './topic-manifests.ts';

const plan = { model: 'shop', shards: 6, days: 3, replication: -1, sources: ['clicks'] };
const topics = plannedTopics(plan);
const three = plannedTopics({ ...plan, replication: 3 });

describe('the topics that are planned', () => {
  it('are all of the model, and ratings only where it is a source', () => {
    const names = topics.map(({ name }) => name);
    expect(names).toContain('shop.user-ratings');
    expect(names).not.toContain('ratings');
    const withRatings = plannedTopics({ ...plan, sources: ['ratings'] });
    expect(withRatings.map(({ name }) => name)).toEqual(['ratings', ...names]);
  });

  it('become commands, which leave the replication to the brokers unless it is set', () => {
    const lines = manifestForms['kafka-topics'](topics, 'k1:9092,k2:9092').split('\n');
    expect(lines).toHaveLength(topics.length);
    expect(lines.find((line) => line.includes('shop.user-ratings'))).toBe(
      'kafka-topics.sh --bootstrap-server k1:9092,k2:9092 --create --if-not-exists ' +
        '--topic shop.user-ratings --partitions 6 --config max.message.bytes=4194304 ' +
        '--config retention.ms=259200000 --config segment.ms=32400000',
    );
    expect(manifestForms['kafka-topics'](three, 'k').split('\n')[0]).toContain(
      '--replication-factor 3',
    );
  });

  it('become resources of Terraform, each under a name of its own', () => {
    const text = manifestForms.terraform(topics, 'k');
    const names = [...text.matchAll(/^resource "kafka_topic" "(\w+)" \{$/gm)].map(
      ([, name]) => name,
    );
    expect(new Set(names).size).toBe(topics.length);
    expect(text).toContain('  replication_factor = -1\n');
    expect(text).toContain('    "cleanup.policy" = "compact"\n');
  });

  it('become resources of Strimzi with the very same topics', () => {
    const documents = parseAllDocuments(manifestForms.strimzi(three, 'k')).map((each) =>
      each.toJS(),
    );
    expect(documents.map(({ spec }) => spec)).toEqual(
      three.map(({ name, partitions, replication, config }) => {
        return { topicName: name, partitions, replicas: replication, config };
      }),
    );
    for (const { kind, metadata } of documents) {
      expect(kind).toBe('KafkaTopic');
      expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
    }
    expect(
      parseAllDocuments(manifestForms.strimzi(topics, 'k'))[0]?.toJS().spec.replicas,
    ).toBeUndefined();
  });
});
