/**
 * Faults of the store, the logs and the processes of a world. The weather gives their chances and a
 * seed draws them.
 */
import type { Random } from '@freshet/model';
import { decodeIntakeMark } from '@freshet/positions';
import type { MemorySnapshot, MemoryStore } from '@freshet/store';
import type { CommittedOffset, LogRange } from '@freshet/stream';
import {
  factorsOf,
  groupOf,
  logOf,
  PARTITIONS_AT_MOST,
  partsTopic,
  shards,
  sources,
} from './simulated-model.ts';
import { pass, turn } from './simulated-time.ts';
import type { World } from './world.ts';

const topics = Object.keys(sources);
const RECREATION_MS = 5_000;

export class Faults {
  readonly #world: World;
  readonly #memory: MemoryStore;
  readonly #random: Random;
  #snapshots: MemorySnapshot[] = [];
  /** Offsets that intake had committed, by topic. */
  #offsets: { readonly topic: string; readonly committed: Map<number, CommittedOffset> }[] = [];

  constructor(world: World, memory: MemoryStore, random: Random) {
    this.#world = world;
    this.#memory = memory;
    this.#random = random;
  }

  async strike(): Promise<void> {
    const { weather, operator, log } = this.#world;
    // A transaction of some producer ends. It may leave nothing but its marker in this topic.
    if (this.#random.next() < 0.05) {
      const topic = this.#pick([...topics, logOf.user]);
      log.mark(topic, this.#random.below(log.partitionsOf(topic)));
    }
    if (this.#random.next() < 2 * weather.storeBack) this.#snapshots.push(this.#memory.snapshot());
    if (this.#random.next() < 2 * weather.offsetsBack) await this.#rememberOffsets();
    const faults: [number, () => void | Promise<void>][] = [
      [weather.storeBack, () => this.#goBack()],
      [2 * weather.replaced, () => this.#world.replaceSomebody()],
      [weather.rebalanced, () => this.#disturb()],
      [weather.storeWiped, () => this.#wipe()],
      [weather.rebuilt, () => this.#rebuild()],
      [weather.offsetsBack, () => this.#loseOffsets()],
      [weather.grown, () => this.#grow()],
      [weather.cut, () => this.#cutSource()],
      [weather.retention, () => this.#cutFollowed()],
      [weather.expired, () => this.#expire()],
      [weather.recreated, () => this.#recreateSource()],
      [weather.recreated, () => this.#recreateLog()],
      [weather.repeated, () => this.#repeatPart()],
      [weather.cut > 0 ? 0.03 : 0, () => operator.look()],
    ];
    for (const [chance, act] of faults) if (this.#random.next() < chance) await act();
  }

  #disturb(): void {
    const consumer = this.#pick(this.#world.processes.flatMap(({ consumers }) => consumers));
    const chance = this.#random.next();
    if (chance < 0.4) consumer?.joinAgain();
    else if (chance < 0.7) consumer?.breakDown();
    else if (consumer) consumer.isHung = true;
  }

  #goBack(): void {
    const snapshot = this.#snapshots.pop();
    if (snapshot !== undefined) this.#memory.restore(snapshot);
  }

  #wipe(): void {
    // After the log was recreated, the store alone holds the older ratings. To wipe it then would
    // lose them, and no service could notice.
    if (this.#world.log.idsOf(logOf.user).length > 1) return;
    this.#memory.wipe();
    this.#snapshots = [];
  }

  async #rebuild(): Promise<void> {
    await this.#world.operator.rebuild();
    this.#snapshots = [];
  }

  async #rememberOffsets(): Promise<void> {
    const topic = this.#pick(topics);
    const committed = await this.#world.log.committed(groupOf(topic), topic);
    this.#offsets.push({ topic, committed });
  }

  async #loseOffsets(): Promise<void> {
    const { log } = this.#world;
    const { topic, committed } = this.#offsets.pop() ?? {};
    if (topic === undefined || committed === undefined) return;
    // While a group has members, Kafka neither takes offsets from others nor deletes any.
    this.#world.kill('intake');
    await log.deleteGroup(groupOf(topic));
    if (this.#random.next() < 0.3) return;
    for (const [partition, { offset, metadata }] of committed) {
      log.commit(groupOf(topic), topic, partition, offset, metadata);
    }
  }

  async #grow(): Promise<void> {
    const { log, lineage } = this.#world;
    const topic = this.#pick(topics);
    const count = Math.min(log.partitionsOf(topic) + 1, PARTITIONS_AT_MOST);
    log.addPartitions(topic, count);
    await lineage.follow(topic);
  }

  async #cutSource(): Promise<void> {
    const { log, lineage } = this.#world;
    const topic = this.#pick(topics);
    const partition = this.#random.below(log.partitionsOf(topic));
    const position = await this.#intakePosition(topic, partition);
    // Where intake has committed nothing yet, it begins at the start of the log, and what was
    // deleted before is no loss.
    if (position === undefined) return;
    const { start, end } = await this.#range(topic, partition);
    // Deletes either records that intake has read, or records that it has not read yet.
    const isRead = position >= end || this.#random.next() < 0.3;
    const [from, to] = isRead ? [start, Math.min(position, end)] : [Math.max(start, position), end];
    if (to <= from) return;
    log.cut(topic, partition, from + 1 + this.#random.below(to - from));
    lineage.cut(topic, partition);
  }

  /**
   * The offset that intake has committed since the last rebuild; undefined if it has committed
   * none.
   */
  async #intakePosition(topic: string, partition: number): Promise<number | undefined> {
    const committed = (await this.#world.log.committed(groupOf(topic), topic)).get(partition);
    const { rebuilt = 0 } = (await this.#memory.birth()) ?? {};
    if (committed === undefined) return undefined;
    const { life, topicId } = decodeIntakeMark(committed.metadata, '');
    const isNow = life >= rebuilt && topicId === this.#world.log.idsOf(topic).at(-1);
    return isNow ? committed.offset : undefined;
  }

  /**
   * Retention deletes old records of the factor and gram topics. Readers must notice the gap from
   * the records that are left.
   */
  async #cutFollowed(): Promise<void> {
    const { log } = this.#world;
    const topic = this.#pick([factorsOf('user'), factorsOf('item'), partsTopic]);
    for (const [partition, { start, end }] of await log.ranges(topic)) {
      log.cut(topic, partition, Math.max(start, end - 1));
    }
  }

  /** Retention deletes records that a shard has applied. */
  async #expire(): Promise<void> {
    const { side, shard } = this.#pick(shards);
    const { start } = await this.#range(logOf[side], shard);
    const { position } = await this.#memory.head({ side, shard });
    if (position === null || position <= start) return;
    const to = start + 1 + this.#random.below(position - start);
    this.#world.log.cut(logOf[side], shard, to);
  }

  async #recreateSource(): Promise<void> {
    const { log, lineage } = this.#world;
    const topic = this.#pick(topics);
    const count = log.partitionsOf(topic);
    const read: number[] = [];
    for (let partition = 0; partition < count; partition++) {
      read.push((await this.#intakePosition(topic, partition)) ?? 0);
    }
    log.recreate(topic);
    log.addPartitions(topic, count);
    for (const [partition, position] of read.entries()) {
      await lineage.accept(topic, partition, position, 0);
    }
    // Kafka deletes the offsets of a deleted topic, unless a consumer commits them again before
    // that.
    if (this.#random.next() < 0.5) await log.deleteGroup(groupOf(topic));
    // Records that fill the new topic beyond the old position within seconds would be applied
    // before anybody notices.
    await pass(RECREATION_MS);
  }

  /**
   * Recreates the log of a side after all of it was applied: no rating is lost, but every position
   * is.
   */
  async #recreateLog(): Promise<void> {
    const { log } = this.#world;
    const side = this.#pick(['user', 'item'] as const);
    const topic = logOf[side];
    // Nothing else runs between this turn and the checks below.
    await turn();
    for (const { shard } of shards.filter((each) => each.side === side)) {
      const { end } = await this.#range(topic, shard);
      const { position } = await this.#memory.head({ side, shard });
      if (position === null || position !== end) return;
    }
    log.recreate(topic);
    await pass(RECREATION_MS);
  }

  async #repeatPart(): Promise<void> {
    const { log } = this.#world;
    const { key, value, headers } = this.#pick(log.records(partsTopic, 0)) ?? {};
    if (!value) return;
    await log.append({ topic: partsTopic, key: key ?? null, value, headers: { ...headers } });
  }

  async #range(topic: string, partition: number): Promise<LogRange> {
    return (await this.#world.log.ranges(topic)).get(partition) ?? { start: 0, end: 0 };
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#random.below(choices.length)] as T;
  }
}
