/** Answers recommendation-requests on recommendations, or on the topic a request names. */
import {
  decodeRecommendationRequest,
  encodeRecommendation,
  PoisonRecord,
  shardOf,
  topicName,
} from '@freshet/events';
import type { LogRecord, OutRecord, PartitionOwner, Publisher, TopicAdmin } from '@freshet/stream';
import type { Log } from '@freshet/telemetry';
import { plainError } from './plain-error.ts';
import type { Recommender } from './recommender.ts';
import { saneId } from './request-id.ts';
import { RequestMetrics } from './request-metrics.ts';

export interface AnswererOptions {
  readonly model: string;
  readonly partitions: number;
  readonly groupId: string;
  readonly recommender: Pick<Recommender, 'recommend'>;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly admin: Pick<TopicAdmin, 'committed' | 'starts'>;
  readonly log: Pick<Log, 'warn'>;
}

const CORRELATION = 'correlation-id';

export class RequestAnswerer implements PartitionOwner {
  readonly #options: AnswererOptions;
  readonly #measures = new RequestMetrics('kafka');

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
        const { topic, headers } = answer;
        const correlationId = saneId(headers?.[CORRELATION]);
        const told = { correlationId, topic, error: plainError(error) };
        log.warn(told, 'reply topic not writable: answer dropped');
      });
    }
    return true;
  }

  release(): void {}

  async #answer(record: LogRecord): Promise<OutRecord | undefined> {
    const began = performance.now();
    try {
      const request = decodeRecommendationRequest(record.value);
      const { model, recommender } = this.#options;
      if (request.model !== undefined && request.model !== model) return undefined;
      const deadline = Number(record.headers.deadline ?? Number.POSITIVE_INFINITY);
      if (!(Date.now() <= deadline)) {
        // Nobody waits for it any more; a deadline that is no number has passed too.
        this.#measures.observe('recommend', 'refused', began);
        return undefined;
      }
      const answer = await recommender.recommend(request.user, request.n);
      const value = encodeRecommendation(answer, request.format);
      this.#measures.observe('recommend', 'ok', began, value.length);
      return this.#addressed(request.user, value, record.headers);
    } catch (error) {
      const isRefused = error instanceof PoisonRecord;
      this.#measures.observe('recommend', isRefused ? 'refused' : 'failed', began);
      if (!isRefused) throw error;
      const correlationId = saneId(record.headers[CORRELATION]);
      const told = { correlationId, reason: error.reason, offset: record.offset };
      this.#options.log.warn(told, 'request refused');
      return undefined;
    }
  }

  #addressed(key: string, value: Buffer, headers: LogRecord['headers']): OutRecord {
    const { model, partitions } = this.#options;
    const ours = {
      topic: topicName('recommendations', model),
      partition: shardOf(key, partitions),
    };
    const replyTopic = headers['reply-topic'];
    const correlation = headers[CORRELATION];
    return {
      ...(replyTopic === undefined ? ours : { topic: replyTopic }),
      key,
      value,
      ...(correlation === undefined ? {} : { headers: { [CORRELATION]: correlation } }),
    };
  }
}
