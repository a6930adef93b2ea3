/**
 * Finds user, item, value, time and kind in a record. A field that RATING_FIELDS names is looked up
 * at that path only. Any other field is looked up by the names that producers usually give it.
 */
import { PoisonRecord, shownText, shownValue } from './poison-record.ts';

/**
 * The first of these names that a record has is used; each list begins with the field's own name.
 * docs/ratings.md shows the same table.
 */
export const usualNames = {
  user: words(`
    user userId user_id userid uid customer customerId customer_id visitorId visitor_id visitorid
    memberId member_id reviewerID`),
  item: words(`
    item itemId item_id itemid product productId product_id movieId movie_id articleId article_id
    contentId content_id videoId video_id trackId track_id sku asin`),
  value: words('value rating score stars overall'),
  time: words(`
    time timestamp ts eventTime event_time occurredAt occurred_at createdAt created_at
    unixReviewTime`),
  kind: words('kind type event action eventType event_type'),
};

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

type RatingFieldName = keyof typeof usualNames;

/** The path of each field that RATING_FIELDS names. */
export type RatingFields = Readonly<Partial<Record<RatingFieldName, string>>>;

/** A decoded record: JSON's own object, or one with the fields of an Avro record. */
export type DecodedRecord = Readonly<Record<string, unknown>>;

/** Finds one field. What does not depend on the record is computed once. */
export class RatingField {
  readonly #field: RatingFieldName;
  readonly #path: Path | undefined;
  /** The place of each usual name in the order of preference. */
  readonly #ranks: ReadonlyMap<string, number>;

  constructor(field: RatingFieldName, fields: RatingFields) {
    const whole = fields[field];
    this.#field = field;
    this.#path = whole === undefined ? undefined : pathOf(whole);
    this.#ranks = new Map(usualNames[field].map((name, rank) => [name, rank]));
  }

  /** The value of the field, which may be null; undefined if the record does not have it. */
  in(record: DecodedRecord): unknown {
    if (this.#path !== undefined) return valueAt(record, this.#path);
    return record[this.#field] ?? this.#preferred(record, () => 0);
  }

  /**
   * The same for a field that must be a plain value. Usual names that hold null are skipped, and
   * an object is the last choice: many records have an object `user`, and `userId`.
   */
  scalarIn(record: DecodedRecord): unknown {
    if (this.#path !== undefined) return valueAt(record, this.#path);
    const found = record[this.#field];
    return found === undefined || unlikeliness(found) > 0
      ? this.#preferred(record, unlikeliness)
      : found;
  }

  /** Goes through the keys of the record: to look up an absent property is slow. */
  #preferred(record: DecodedRecord, penalty: (value: unknown) => 0 | 1 | 2): unknown {
    const names = this.#ranks.size;
    let best = 2 * names;
    let found: unknown;
    for (const key in record) {
      const rank = this.#ranks.get(key);
      if (rank === undefined) continue;
      const place = rank + penalty(record[key]) * names;
      if (place >= best) continue;
      best = place;
      found = record[key];
    }
    return found;
  }

  /** The error for a record without this field: why it is missing, and what to set. */
  absent(record: DecodedRecord): PoisonRecord {
    return new PoisonRecord('bad-id', `no ${this.#field}: ${this.#whyAbsent(record)}`);
  }

  #whyAbsent(record: DecodedRecord): string {
    const field = this.#field;
    if (this.#path !== undefined) {
      const there = shownValue(valueAt(record, this.#path));
      return `the record has ${there} at ${shownText(this.#path.whole)}, where RATING_FIELDS looks for it`;
    }
    const names = [...this.#ranks.keys()];
    const object = names.find((name) => unlikeliness(record[name]) === 1);
    const nothing = names.find((name) => record[name] === null);
    if (object === undefined && nothing !== undefined) return `${nothing} is null`;
    return object === undefined
      ? `say where it is by RATING_FIELDS=${field}=path.to.it; none of the usual names is there (${names.join(', ')})`
      : `${object} is ${shownValue(record[object])}; name a field in it, like RATING_FIELDS=${field}=${object}.id`;
  }
}

/** How unlikely a value is to be an id, time or kind: 2 for null, 1 for an object, 0 for others. */
function unlikeliness(value: unknown): 0 | 1 | 2 {
  if (typeof value !== 'object') return 0;
  if (value === null) return 2;
  return value instanceof Uint8Array ? 0 : 1; // bytes are Avro text that is not UTF-8
}

interface Path {
  readonly whole: string;
  /**
   * For each place in the path, the keys that may come next, the longest first: after "attributes"
   * in attributes.user.id the key may be "user.id" or "user". `next` is the place after the key.
   */
  readonly keys: readonly (readonly { readonly key: string; readonly next: number }[])[];
}

function pathOf(whole: string): Path {
  const steps = whole.split('.');
  const keys = steps.map((_, from) =>
    steps
      .slice(from)
      .map((_, more) => from + more + 1)
      .map((next) => ({ key: steps.slice(from, next).join('.'), next }))
      .reverse(),
  );
  return { whole, keys };
}

/** A key that contains dots is preferred to the path of keys between the dots. */
function valueAt(record: DecodedRecord, { keys }: Path): unknown {
  let found: unknown = record;
  for (let at = 0; at < keys.length; ) {
    if (typeof found !== 'object' || found === null) return undefined;
    const within = found as DecodedRecord;
    // Own properties only: every object inherits a `constructor`, and every text has a length.
    const step = keys[at]?.find(({ key }) => Object.hasOwn(within, key));
    if (step === undefined) return undefined;
    found = within[step.key];
    at = step.next;
  }
  return found;
}
