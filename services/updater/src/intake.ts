/**
 * The first stage reads a source topic, whatever its keys and partitions, and sends the valid
 * ratings to the shards of their users. Its only state is the offset that it commits to Kafka, with
 * a mark of what it has sent. It leaves out no rating: a batch is sent only when the one before is
 * acknowledged. It may send one twice: user shards drop what is not above the last source offset.
 */
import assert from 'node:assert';
import {
  asPoison,
  type PoisonReason,
  type RatingEvent,
  type RatingReader,
  type RegisteredSchema,
  shardOf,
  TRACEPARENT,
  topicName,
  traceparentOf,
  UserRatingPack,
  userRatingsCodec,
} from '@freshet/events';
import {
  encodeIntakeMark,
  type IntakeMark,
  type IntakePlace,
  intakeGroup,
  intakePlace,
  readTraces,
  type SentPlace,
  type SourceTrace,
  sourceName,
  unreadableAt,
} from '@freshet/positions';
import type { ModelAgreement, SchemaRegistry } from '@freshet/session';
import { counted, type FactorStore } from '@freshet/store';
import {
  deadLetter,
  internalRecord,
  LogFault,
  type LogRecord,
  type OutRecord,
  type PartitionOwner,
  type Publisher,
  type TopicAdmin,
  textHeader,
} from '@freshet/stream';
import { type Log, metrics, untilAnswered } from '@freshet/telemetry';
import { publishOutbox } from './outgoing.ts';

interface IntakeOptions {
  readonly topic: string;
  readonly model: string;
  readonly shards: number;
  readonly reader: Pick<RatingReader, 'read' | 'idsToLookUp'>;
  readonly registry?: Pick<SchemaRegistry, 'awaitAll'> | undefined;
  readonly publisher: Pick<Publisher, 'publish'>;
  readonly admin: Pick<TopicAdmin, 'ranges' | 'topicId' | 'committed' | 'peek'>;
  readonly store: Pick<FactorStore, 'acceptedLoss' | 'head'>;
  readonly agreement: Pick<ModelAgreement, 'renew' | 'born' | 'rebuilt'>;
  readonly log: Log;
}

/** The ratings for one user shard, and the traces that they belong to. */
class HomePack extends UserRatingPack {
  readonly traces = new Map<number, string>();
  #ratings = 0;

  /** Called before each rating is added, with its traceparent if it has one. */
  trace(given: string | undefined): void {
    const trace = traceparentOf(given);
    if (trace !== undefined) this.traces.set(this.#ratings, trace);
    this.#ratings++;
  }
}

/** What the registry says of the schema ids in a batch; without a registry there are none. */
type Schemas = ReadonlyMap<number, RegisteredSchema>;

interface Reached {
  now: SentPlace;
  /** The place before `now`: its offset may be about to be committed. */
  before: SentPlace;
}

export class Intake implements PartitionOwner {
  /** Also of released partitions: they may come back before their offset was committed. */
  readonly #reached = new Map<number, Reached>();
  readonly #owned = new Set<number>();

  constructor(private readonly options: IntakeOptions) {}

  async takeOver(partition: number): Promise<number> {
    const { agreement, topic, log } = this.options;
    await agreement.renew();
    const { fault, position, mark } = await this.#look(partition);
    if (fault !== undefined) throw fault;
    const place = { position, mark };
    this.#reached.set(partition, { now: place, before: place });
    this.#owned.add(partition);
    log.info({ topic, partition, position }, 'the source partition was taken over');
    return position;
  }

  async consume(
    partition: number,
    records: readonly LogRecord[],
    next: number,
    heartbeat: () => Promise<void>,
  ): Promise<boolean> {
    const reached = this.#reached.get(partition);
    if (reached === undefined || !this.#owned.has(partition)) return false;
    const { model, reader, registry, publisher, log } = this.options;
    let schemas: Schemas | undefined;
    if (registry !== undefined) {
      schemas = await registry.awaitAll(reader.idsToLookUp(records), heartbeat);
      // The partition may have gone while the registry was asked.
      if (this.#reached.get(partition) !== reached || !this.#owned.has(partition)) return false;
    }
    const { mark, out, parked } = this.#pack(partition, records, reached.now.mark, schemas);
    const publish = () => publishOutbox(publisher, out, model);
    const timer = metrics.publishDuration.startTimer({ side: 'intake' });
    const what = 'ratings were not sent to user-ratings';
    await untilAnswered(publish, { log, what, between: heartbeat });
    timer();
    for (const reason of parked) metrics.parked.inc({ reason });
    reached.before = reached.now;
    reached.now = { position: next, mark };
    return true;
  }

  release(partition: number): void {
    this.#owned.delete(partition);
  }

  remark(partition: number, position: number): string | undefined {
    const { now, before } = this.#reached.get(partition) ?? {};
    const place = [now, before].find((each) => each?.position === position);
    return place && encodeIntakeMark(place.mark);
  }

  /** False once a rebuild has begun: the source must be read again from its beginning. */
  async isStored(partition: number): Promise<boolean> {
    const { now } = this.#reached.get(partition) ?? {};
    if (now === undefined) return true;
    const { life, topicId } = now.mark;
    if (life < this.options.agreement.rebuilt) return false;
    const traces = this.#wasLost ? await this.#traces(partition) : [];
    return traces.every((each) => each.topicId !== topicId || each.life <= life);
  }

  /** True if the store lost everything once, and with it the life of a rebuild before that. */
  get #wasLost(): boolean {
    const { born, rebuilt } = this.options.agreement;
    return born !== rebuilt;
  }

  #traces(partition: number): Promise<SourceTrace[]> {
    const { topic, shards, store } = this.options;
    return readTraces(store, shards, { topic, partition });
  }

  async isMended(partition: number, fault: Error): Promise<boolean> {
    if (!(fault instanceof LogFault)) return true;
    const { fault: left, position } = await this.#look(partition);
    if (fault.kind !== 'unreadable') return left === undefined;
    const { topic, admin } = this.options;
    return (await unreadableAt(admin, { topic, partition }, position)) === undefined;
  }

  /** The offset to go on from, and whether the log still holds it. */
  async #look(partition: number): Promise<IntakePlace> {
    const { topic, model, admin, store, agreement } = this.options;
    const topicId = await admin.topicId(topic);
    // A topic that was recreated may have fewer partitions than the group still assigns.
    const range = (await admin.ranges(topic)).get(partition) ?? { start: 0, end: 0 };
    const committed = (await admin.committed(intakeGroup(model, topic), topic)).get(partition);
    const own = this.#reached.get(partition)?.now;
    const isKnown = committed !== undefined || own?.mark.topicId === (topicId ?? topic);
    return intakePlace(
      { topic, partition, range, topicId },
      {
        committed,
        own,
        traces: isKnown && !this.#wasLost ? [] : await this.#traces(partition),
        accepted: await store.acceptedLoss(topic, partition),
        rebuilt: agreement.rebuilt,
      },
    );
  }

  #pack(
    partition: number,
    records: readonly LogRecord[],
    before: IntakeMark,
    schemas: Schemas | undefined,
  ) {
    const { topic, model, shards, reader } = this.options;
    const packs = new Map<number, HomePack>();
    const out: OutRecord[] = [];
    const parked: PoisonReason[] = [];
    let { sent } = before;
    for (const record of records) {
      let event: RatingEvent;
      try {
        event = reader.read(record, schemas);
      } catch (error) {
        const poison = asPoison(error);
        parked.push(poison.reason);
        out.push(deadLetter(model, { topic, partition }, record, poison));
        continue;
      }
      const home = shardOf(event.user, shards);
      const pack = packs.get(home) ?? new HomePack();
      packs.set(home, pack);
      const start = pack.length;
      pack.trace(textHeader(record.headers, TRACEPARENT));
      pack.add(event, record.offset);
      sent = counted(sent, pack.room, start, pack.length);
    }
    for (const [home, pack] of packs) {
      out.push(this.#recordOf(home, pack, before, { partition, records }));
    }
    return { mark: { ...before, sent }, out, parked };
  }

  #recordOf(
    shard: number,
    { bytes: entries, traces }: HomePack,
    { topicId, life }: IntakeMark,
    { partition, records: [first] }: { partition: number; records: readonly LogRecord[] },
  ): OutRecord {
    const { topic, model } = this.options;
    assert(first !== undefined, 'a pack has the rating of a record');
    const produced = first.timestamp;
    const record = {
      topic: topicName('userRatings', model),
      partition: shard,
      key: sourceName(topic, topicId, partition),
      value: userRatingsCodec.encode({ topic, topicId, partition, life, produced, entries }),
    };
    return internalRecord(record, traces);
  }
}
