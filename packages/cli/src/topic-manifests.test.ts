import { plannedTopics } from '@freshet/stream';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { manifestForms } from './topic-manifests.ts';

const plan = { model: 'shop', shards: 6, days: 3, replication: -1, sources: ['clicks'] };
const topics = plannedTopics(plan);
const three = plannedTopics({ ...plan, replication: 3 });
/** The name of a model may begin with a digit and end with a hyphen. */
const awkward = plannedTopics({ ...plan, model: '1shop-' });

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
        '--config cleanup.policy=delete --config retention.ms=259200000 ' +
        '--config retention.bytes=-1 --config segment.ms=37028571',
    );
    expect(manifestForms['kafka-topics'](three, 'k').split('\n')[0]).toContain(
      '--replication-factor 3',
    );
  });

  it('become resources of Terraform, each under a name of its own that is valid', () => {
    for (const planned of [topics, awkward]) {
      const text = manifestForms.terraform(planned, 'k');
      const names = [...text.matchAll(/^resource "kafka_topic" "([A-Za-z_]\w*)" \{$/gm)].map(
        ([, name]) => name,
      );
      expect(new Set(names).size).toBe(topics.length);
    }
  });

  it('become Terraform as it formats it, with the replication asked for unless it is set', () => {
    const [block] = manifestForms.terraform(three.slice(-1), 'k').split('\n\n');
    expect(block).toBe(`resource "kafka_topic" "recommendations" {
  name               = "recommendations"
  partitions         = 6
  replication_factor = 3
  config = {
    "max.message.bytes" = "4194304"
    "cleanup.policy"    = "delete"
    "retention.ms"      = "86400000"
    "retention.bytes"   = "-1"
    "segment.ms"        = "14400000"
  }
}`);
    // The provider refuses -1.
    const asked = manifestForms.terraform(topics, 'k');
    expect(asked).toMatch(/^variable "replication_factor" \{$/m);
    expect(asked.match(/replication_factor = (.*)/g)).toEqual(
      topics.map(() => 'replication_factor = var.replication_factor'),
    );
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
    for (const { apiVersion, kind } of documents) {
      expect([apiVersion, kind]).toEqual(['kafka.strimzi.io/v1', 'KafkaTopic']);
    }
    expect(
      parseAllDocuments(manifestForms.strimzi(topics, 'k'))[0]?.toJS().spec.replicas,
    ).toBeUndefined();
  });

  it('have names that Kubernetes accepts', () => {
    for (const each of parseAllDocuments(manifestForms.strimzi(awkward, 'k'))) {
      const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
      expect(each.toJS().metadata.name).toMatch(new RegExp(`^${label}(\\.${label})*$`));
    }
  });
});
