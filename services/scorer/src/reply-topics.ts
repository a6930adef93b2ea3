/**
 * Checks the topic that a request names for its answer. Without the check a client could make
 * Freshet write to any topic. A name must match REPLY_TOPICS; Freshet's own topics, and those that
 * ratings come from, are always refused.
 */
import { matcher } from '@freshet/config';
import { type Topic, topicName, topics } from '@freshet/events';

export class ReplyTopics {
  readonly #isAllowed: (topic: string) => boolean;
  readonly #own: ReadonlySet<string>;
  readonly #sources: ReadonlySet<string>;
  readonly #prefix: string;
  readonly ours: string;

  /** `patterns`: topic names in which * stands for any text. */
  constructor(patterns: readonly string[], model: string, sources: readonly string[]) {
    this.#isAllowed = matcher(patterns);
    this.ours = topicName('recommendations', model);
    const all = (Object.keys(topics) as Topic[]).map((topic) => topicName(topic, model));
    this.#own = new Set(all.filter((name) => name !== this.ours));
    this.#sources = new Set(sources);
    this.#prefix = `${model}.`;
  }

  /** Why an answer may not go to a topic; undefined: it may. */
  refusal(topic: string): string | undefined {
    // Topics of other models are recognized by their form: MODEL.NAME.
    const isInternal = topic.startsWith(this.#prefix) || INTERNAL.test(topic);
    if (this.#own.has(topic) || isInternal) return 'it is one of Freshet’s own topics';
    if (this.#sources.has(topic)) return 'ratings come from it';
    if (this.#isAllowed(topic)) return undefined;
    return 'it is not among REPLY_TOPICS';
  }
}

const INTERNAL = new RegExp(
  `^[a-z0-9-]+\\.(${Object.values(topics)
    .filter(({ scope }) => scope === 'model')
    .map(({ name }) => name)
    .join('|')})$|^__`,
);
