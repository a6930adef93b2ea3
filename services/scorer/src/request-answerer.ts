/**
 * Answers requests of the topic `recommendation-requests` on `recommendations`, or on the topic
 * that a request names. A request that cannot be answered is parked on the dead-letter topic, or
 * answered with an error. No request can stop the others.
 */
import assert from 'node:assert';
import {
  asPoison,
  decodeRecommendationRequest,
  encodeRecommendation,
  PoisonRecord,
  type Recommendation,
  type RecommendationRequest,
  TRACEPARENT,
  topicName,
  traceField,
  traceHeader,
} from '@freshet/events';
import {
  deadLetter,
  type LogRecord,
  type OutRecord,
  type PartitionOwner,
  type Publisher,
  type TopicAdmin,
} from '@freshet/stream';
import { type Log, metrics, plainError, ServerAway, verdict } from '@freshet/telemetry';
import type { Recommender } from './recommender.ts';
import { ReplyTopics } from './reply-topics.ts';
import { saneId } from './request-id.ts';
import { RequestMetrics } from './request-metrics.ts';

interface AnswererOptions {
  readonly model: string;
  readonly groupId: string;
  readonly replyTopics: readonly string[];
  /** Topics that ratings come from: no answer may go there. */
  readonly sources: readonly string[];
  /** What requests must wait for at the moment, or null. */
  readonly waits: () => string | null;
  readonly recommender: Pick<Recommender, 'recommend'>;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly admin: Pick<TopicAdmin, 'committed' | 'ranges' | 'exists'>;
  readonly log: Pick<Log, 'warn'>;
}

const CORRELATION = 'correlation-id';
/** Longer ids are left out: an answer must stay below the largest message that Kafka takes. */
const CORRELATION_BYTES = 1_024;
/** Answers in memory at a time: each may have a thousand items with titles and categories. */
const TOGETHER = 32;
/** For so long the existence of a reply topic is cached. */
const KNOWN_TOPIC_MS = 10_000;

export class RequestAnswerer implements PartitionOwner {
  readonly #options: AnswererOptions;
  readonly #topic: string;
  readonly #replies: ReplyTopics;
  readonly #measures = new RequestMetrics('kafka');
  /** Offset after the last request answered here, by partition. */
  readonly #answered = new Map<number, number>();
  readonly #known = new Map<string, { readonly exists: boolean; readonly until: number }>();

  constructor(options: AnswererOptions) {
    this.#options = options;
    this.#topic = topicName('recommendationRequests', options.model);
    this.#replies = new ReplyTopics(options.replyTopics, options.model, options.sources);
  }

  /** Goes on from the committed offset: requests sent while no scorer ran are answered too. */
  async takeOver(partition: number): Promise<number> {
    const { admin, groupId } = this.#options;
    const committed = (await admin.committed(groupId, this.#topic)).get(partition)?.offset ?? 0;
    const range = (await admin.ranges(this.#topic)).get(partition);
    assert(range !== undefined, `${this.#topic} has the partition ${partition} that was assigned`);
    const { start, end } = range;
    const known = Math.max(committed, this.#answered.get(partition) ?? 0);
    // The offset is beyond the end: the topic was recreated, and no request of it was answered.
    return known > end ? start : Math.max(known, start);
  }

  async consume(partition: number, records: readonly LogRecord[], next: number): Promise<boolean> {
    const reason = this.#options.waits();
    if (reason !== null) throw new ServerAway(`requests wait for ${reason}`);
    for (let first = 0; first < records.length; first += TOGETHER) {
      const some = records.slice(first, first + TOGETHER);
      const answers = await Promise.all(some.map((record) => this.#answer(partition, record)));
      await this.#publishAll(answers.filter((answer) => answer !== undefined));
    }
    this.#answered.set(partition, next);
    return true;
  }

  release(): void {}

  async #answer(partition: number, record: LogRecord): Promise<OutRecord | undefined> {
    const began = performance.now();
    try {
      const request = decodeRecommendationRequest(record.value);
      const { model, recommender } = this.#options;
      if (request.model !== undefined && request.model !== model) return undefined;
      const deadline = Number(record.headers.deadline ?? Number.POSITIVE_INFINITY);
      if (!(Date.now() <= deadline)) {
        // Nobody waits for the answer any more. A deadline that is not a number counts as passed.
        this.#measures.observe('recommend', 'refused', began);
        return undefined;
      }
      const refusal = await this.#refusalOf(record.headers['reply-topic']?.toString());
      if (refusal !== undefined) return this.#refused(request, record, refusal, began);
      const answer = await recommender.recommend(request.user, request.n);
      const value = encodeRecommendation(answer, request.format);
      this.#measures.observe('recommend', 'ok', began, value.length);
      return this.#addressed(request.user, value, record.headers);
    } catch (error) {
      if (verdict(error) === 'retry') throw error;
      this.#measures.observe(
        'recommend',
        error instanceof PoisonRecord ? 'refused' : 'failed',
        began,
      );
      return this.#parked(partition, record, error);
    }
  }

  /** The answer to a request whose reply topic is refused: an empty list with the reason. */
  #refused(
    request: RecommendationRequest,
    { headers }: LogRecord,
    refusal: string,
    began: number,
  ): OutRecord {
    const { model, log } = this.#options;
    this.#measures.observe('recommend', 'refused', began);
    log.warn({ ...namesOf(headers), reason: refusal }, 'request refused');
    const state = { name: model, position: null, sequence: null, lag: null };
    const empty: Recommendation = { user: request.user, items: [], model: state, fallback: null };
    const value =
      request.format === 'avro'
        ? encodeRecommendation(empty, 'avro')
        : Buffer.from(JSON.stringify({ ...empty, error: refusal }));
    const answer = this.#addressed(request.user, value, headers, this.#replies.ours);
    return { ...answer, headers: { ...answer.headers, 'freshet-error': refusal } };
  }

  #parked(partition: number, record: LogRecord, error: unknown): OutRecord {
    const { model, log } = this.#options;
    const poison = asPoison(error);
    const told = { ...namesOf(record.headers), reason: poison.reason, offset: record.offset };
    log.warn(told, 'request refused');
    metrics.refusedRecords.inc({ topic: 'recommendation-requests', reason: poison.reason });
    return deadLetter(model, { topic: this.#topic, partition }, record, poison);
  }

  async #refusalOf(replyTopic: string | undefined): Promise<string | undefined> {
    if (replyTopic === undefined || replyTopic === this.#replies.ours) return undefined;
    const name = saneTopic(replyTopic);
    const forbidden = name === undefined ? 'it is not a topic name' : this.#replies.refusal(name);
    const unseen = 'there is no such topic, or this service may not see it';
    const reason = forbidden ?? ((await this.#exists(replyTopic)) ? undefined : unseen);
    return reason && `no answer on reply-topic ${name ?? '(unprintable)'}: ${reason}`;
  }

  /** Checked before sending: the client would retry for 30 s, and all requests would wait. */
  async #exists(topic: string): Promise<boolean> {
    const known = this.#known.get(topic);
    if (known !== undefined && known.until > Date.now()) return known.exists;
    const exists = await this.#options.admin.exists(topic);
    this.#known.set(topic, { exists, until: Date.now() + KNOWN_TOPIC_MS });
    if (this.#known.size > 1_000) this.#known.clear();
    return exists;
  }

  async #publishAll(answers: readonly OutRecord[]): Promise<void> {
    const isOurs = ({ topic }: OutRecord) => topic === this.#replies.ours;
    await this.#publish(answers.filter(isOurs));
    const elsewhere = answers.filter((answer) => !isOurs(answer));
    await Promise.all(elsewhere.map((answer) => this.#publish([answer])));
  }

  /** Drops and logs an answer that Kafka refuses. Throws while Kafka is down: callers retry. */
  async #publish(answers: readonly OutRecord[]): Promise<void> {
    const { publisher, log } = this.#options;
    try {
      await publisher.publish(answers);
    } catch (error) {
      const [only, ...others] = answers;
      if (others.length > 0) {
        for (const answer of answers) await this.#publish([answer]);
        return;
      }
      assert(only !== undefined, 'to publish nothing cannot fail');
      const { topic, headers } = only;
      if (verdict(error) === 'retry' && topic === this.#replies.ours) throw error;
      const told = { ...namesOf(headers), topic, error: plainError(error) };
      log.warn(
        told,
        'Kafka does not take the answer: it is dropped, and the request stays unanswered',
      );
    }
  }

  #addressed(
    key: string,
    value: Buffer,
    headers: LogRecord['headers'],
    replyTopic = headers['reply-topic']?.toString(),
  ): OutRecord {
    const correlation = headers[CORRELATION];
    const isRepeated =
      correlation !== undefined && Buffer.byteLength(correlation) <= CORRELATION_BYTES;
    return {
      topic: replyTopic ?? this.#replies.ours,
      key,
      value,
      headers: {
        ...(isRepeated ? { [CORRELATION]: correlation } : {}),
        ...traceHeader(headers[TRACEPARENT]),
      },
    };
  }
}

/** By what a line of the log can be found: the ids that the sender gave the request. */
function namesOf(headers: LogRecord['headers'] = {}) {
  return { correlationId: saneId(headers[CORRELATION]), ...traceField(headers[TRACEPARENT]) };
}

function saneTopic(name: string): string | undefined {
  return /^[A-Za-z0-9._-]{1,249}$/.test(name) ? name : undefined;
}
