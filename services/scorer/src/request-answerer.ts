/** Answers recommendation-requests on recommendations, or on the topic a request names. */
import {
  decodeRecommendationRequest,
  encodeRecommendation,
  PoisonRecord,
  shardOf,
  topicName,
} from '@freshet/events';
import type { LogRecord, OutRecord, PartitionOwner, Publisher, TopicAdmin } from '@freshet/stream';
import { type Log, metrics } from '@freshet/telemetry';
import type { Recommender } from './recommender.ts';

export interface AnswererOptions {
  readonly model: string;
  readonly partitions: number;
  readonly groupId: string;
  readonly recommender: Pick<Recommender, 'recommend'>;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly admin: Pick<TopicAdmin, 'committed' | 'starts'>;
  readonly log: Pick<Log, 'warn'>;
}

export class RequestAnswerer implements PartitionOwner {
  readonly #options: AnswererOptions;

  constructor(options: AnswererOptions) {
    this.#options = options;
  }

  /** Continues where the group was: a request that came while no scorer ran is still answered. */
  async takeOver(partition: number): Promise<number> {
    const { admin, groupId, model } = this.#options;
    const topic = topicName('recommendationRequests', model);
    const known = (await admin.committed(groupId, topic)).get(partition);
    const start = (await admin.starts(topic)).get(partition) ?? 0;
    return Math.max(known ?? 0, start);
  }

  async apply(_: number, records: readonly LogRecord[]): Promise<boolean> {
    const { publisher, model, log } = this.#options;
    const ours = topicName('recommendations', model);
    const found = await Promise.all(records.map((record) => this.#answer(record)));
    const answers = found.filter((answer) => answer !== undefined);
    await publisher.publish(answers.filter(({ topic }) => topic === ours));
    for (const answer of answers.filter(({ topic }) => topic !== ours)) {
      // The asker chose this topic: if it is not there, that is the asker's loss alone.
      await publisher.publish([answer]).catch((error: unknown) => {
        log.warn({ err: error, topic: answer.topic }, 'reply topic not writable: answer dropped');
      });
    }
    return true;
  }

  release(): void {}

  async #answer(record: LogRecord): Promise<OutRecord | undefined> {
    const { model, partitions, recommender, log } = this.#options;
    const timer = metrics.requestDuration.startTimer({ transport: 'kafka', kind: 'recommend' });
    try {
      const request = decodeRecommendationRequest(record.value);
      if (request.model !== undefined && request.model !== model) return undefined;
      const deadline = Number(record.headers.deadline ?? Number.POSITIVE_INFINITY);
      if (!(Date.now() <= deadline)) {
        // Nobody waits for it any more; a deadline that is no number has passed too.
        timer({ outcome: 'refused' });
        return undefined;
      }
      const answer = await recommender.recommend(request.user, request.n);
      const replyTopic = record.headers['reply-topic'];
      const destination =
        replyTopic === undefined
          ? {
              topic: topicName('recommendations', model),
              partition: shardOf(request.user, partitions),
            }
          : { topic: replyTopic };
      const correlation = record.headers['correlation-id'];
      timer({ outcome: 'ok' });
      return {
        ...destination,
        key: request.user,
        value: encodeRecommendation(answer, request.format),
        ...(correlation === undefined ? {} : { headers: { 'correlation-id': correlation } }),
      };
    } catch (error) {
      if (!(error instanceof PoisonRecord)) throw error;
      timer({ outcome: 'refused' });
      log.warn({ reason: error.reason, offset: record.offset }, 'request refused');
      return undefined;
    }
  }
}
