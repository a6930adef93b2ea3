/** Opens Kafka with the settings of a service. */
import { kafkaSecurity, type Settings } from '@freshet/config';
import type { ServiceContext } from '@freshet/service';
import { openKafka, TopicAdmin, type TopicPlan } from '@freshet/stream';

export interface Brokers {
  readonly kafka: Awaited<ReturnType<typeof openKafka>>;
  readonly admin: TopicAdmin;
}

export async function openBrokers(
  client: string,
  settings: Settings,
  { log, stack }: Pick<ServiceContext, 'log' | 'stack'>,
): Promise<Brokers> {
  const [clientId, brokers] = [`freshet-${client}`, settings.KAFKA_BROKERS];
  const kafka = await openKafka({ clientId, brokers, ...kafkaSecurity(settings) }, log);
  return { kafka, admin: stack.own(await TopicAdmin.open(kafka)) };
}

/** Opens Kafka and creates the topics of the model that are missing. */
export async function openTopics(
  client: string,
  settings: Settings,
  context: Pick<ServiceContext, 'log' | 'stack'>,
): Promise<Brokers> {
  const brokers = await openBrokers(client, settings, context);
  const created = await brokers.admin.ensure(topicPlan(settings));
  if (created.length > 0) context.log.info({ topics: created }, 'created missing topics');
  return brokers;
}

export function topicPlan(settings: Settings): TopicPlan {
  return {
    model: settings.MODEL,
    shards: settings.SHARDS,
    days: settings.USER_RATINGS_DAYS,
    replication: settings.KAFKA_REPLICATION,
    sources: settings.RATINGS_TOPICS,
  };
}
