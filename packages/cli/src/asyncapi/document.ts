/** The AsyncAPI 3.0 document of shared topics, made from the table of topics and the settings. */
import { kafkaSecurity, type Settings } from '@freshet/config';
import { type Topic, type TopicRow, topics } from '@freshet/events';
import { type PublicTopic, publicMessages } from './messages.ts';

export function asyncapiDocument(settings: Settings) {
  const described = publicMessages(settings);
  const channels = channelsOf(settings);
  const schemes = securitySchemes(settings);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Freshet',
      version: '1',
      description:
        'Recommendations that learn from a Kafka stream. `receive`: Freshet reads, you write.',
    },
    defaultContentType: 'application/json',
    servers: servers(settings, Object.keys(schemes)),
    channels: Object.fromEntries(
      channels.map(({ name, topic }) => [name, channel(name, topic, settings)]),
    ),
    operations: Object.fromEntries(
      channels.flatMap(({ name, topic }) =>
        described[topic].actions.map((action) => [
          `${action}.${name}`,
          operation(action, name, topic, described),
        ]),
      ),
    ),
    components: {
      messages: Object.fromEntries(
        Object.values(described).flatMap(({ messages }) => Object.entries(messages)),
      ),
      ...(Object.keys(schemes).length === 0 ? {} : { securitySchemes: schemes }),
    },
  };
}

/** Topics of the broker, each with the row of the table that describes it. */
function channelsOf({ RATINGS_TOPICS }: Settings) {
  const shared = (Object.keys(topics) as Topic[]).filter(isPublic);
  return shared.flatMap((topic) => {
    const names = topic === 'ratings' ? RATINGS_TOPICS : [topics[topic].name];
    return names.map((name) => ({ name, topic }));
  });
}

function isPublic(topic: Topic): topic is PublicTopic {
  return topics[topic].scope === 'shared';
}

function channel(name: string, topic: PublicTopic, settings: Settings) {
  const { about, partitions }: TopicRow = topics[topic];
  const count = { sharded: settings.SHARDS, single: 1, any: undefined }[partitions];
  const { messages } = publicMessages(settings)[topic];
  const partitioned = count === undefined ? {} : { partitions: count };
  return {
    address: name,
    description: about,
    messages: Object.fromEntries(
      Object.keys(messages).map((each) => [each, { $ref: `#/components/messages/${each}` }]),
    ),
    bindings: { kafka: { topic: name, ...partitioned, bindingVersion: '0.5.0' } },
  };
}

function operation(
  action: 'send' | 'receive',
  name: string,
  topic: PublicTopic,
  described: ReturnType<typeof publicMessages>,
) {
  const refer = (to: string, of: PublicTopic) =>
    Object.keys(described[of].messages).map((each) => ({
      $ref: `#/channels/${to}/messages/${each}`,
    }));
  const answers = topics.recommendations.name;
  const channel = { $ref: `#/channels/${answers}` };
  const reply = { channel, messages: refer(answers, 'recommendations') };
  return {
    action,
    channel: { $ref: `#/channels/${name}` },
    summary: summaries[`${action} ${topic}`],
    messages: refer(name, topic),
    ...(topic === 'recommendationRequests' ? { reply } : {}),
  };
}

const summaries: Readonly<Record<string, string>> = {
  'receive ratings': 'Learn a rating, take one back, or forget a user',
  'send ratings': 'Write what came by POST /v1/ratings or DELETE to the first of RATINGS_TOPICS',
  'receive items': 'Know the title and categories of an item, or withdraw it',
  'receive recommendationRequests':
    'Answer a request, on the topic in its header reply-topic if any',
  'send recommendations': 'Answer a request, or push a new list if PUSH is true',
  'send ratingsDeadLetter': 'Park a record that can never be applied',
};

function servers(settings: Settings, schemes: readonly string[]) {
  const { tls } = kafkaSecurity(settings);
  const protocol = tls === undefined ? 'kafka' : 'kafka-secure';
  const security = schemes.map((name) => ({ $ref: `#/components/securitySchemes/${name}` }));
  return Object.fromEntries(
    settings.KAFKA_BROKERS.map((host, nth) => [
      `broker-${nth + 1}`,
      { host, protocol, ...(security.length === 0 ? {} : { security }) },
    ]),
  );
}

function securitySchemes(settings: Settings): Record<string, object> {
  const { tls, sasl } = kafkaSecurity(settings);
  if (sasl?.mechanism === 'oauthbearer') {
    const flow = { tokenUrl: sasl.tokenUrl, availableScopes: {} };
    return { sasl: { type: 'oauth2', flows: { clientCredentials: flow } } };
  }
  if (sasl !== undefined) return { sasl: { type: saslTypes[sasl.mechanism] } };
  return tls?.cert === undefined ? {} : { certificate: { type: 'X509' } };
}

const saslTypes = {
  plain: 'plain',
  'scram-sha-256': 'scramSha256',
  'scram-sha-512': 'scramSha512',
} as const;
