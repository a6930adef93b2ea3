import { describe, expect, it } from 'vitest';
import { encodeIntakeMark } from './intake-mark.ts';
import { intakePlace } from './intake-place.ts';

const source = { topic: 'clicks', partition: 3, range: { start: 20, end: 90 }, topicId: 'new' };
const sent = { count: 7, sum: 99 };

function committedAt(offset: number, topicId = 'new', life = 0) {
  return { offset, metadata: encodeIntakeMark({ topicId, life, sent }) };
}

const nothing = { committed: undefined, accepted: null, rebuilt: 0 };
const accepted = { at: '2025-01-02', kind: 'cut', from: 10, next: 20, topicId: 'new' };

describe('where intake goes on', () => {
  it('is the beginning of a partition that it has never been in', () => {
    expect(intakePlace(source, nothing)).toMatchObject({ position: 20, mark: { topicId: 'new' } });
  });

  it('is where it told Kafka that it was, as long as the log has that', () => {
    const there = intakePlace(source, { ...nothing, committed: committedAt(30) });
    expect(there).toMatchObject({ position: 30, mark: { sent }, fault: undefined });
    const cut = intakePlace(source, { ...nothing, committed: committedAt(10) });
    expect(cut.fault?.kind).toBe('cut');
    const other = intakePlace(source, { ...nothing, committed: committedAt(30, 'old') });
    expect(other.fault?.kind).toBe('recreated');
  });

  it('is the beginning again after a rebuild, once', () => {
    const before = { ...nothing, committed: committedAt(30, 'old', 4), rebuilt: 9 };
    expect(intakePlace(source, before)).toMatchObject({
      position: 20,
      mark: { topicId: 'new', life: 9, sent: { count: 0 } },
      fault: undefined,
    });
    const since = { ...nothing, committed: committedAt(30, 'new', 9), rebuilt: 9 };
    expect(intakePlace(source, since).position).toBe(30);
  });

  it('is not the beginning again where a topic that was recreated has come as far as the one before', () => {
    const loss = { ...accepted, kind: 'recreated', from: 40, next: 20 };
    const before = { ...nothing, committed: committedAt(40, 'old'), accepted: loss };
    expect(intakePlace(source, before).position).toBe(20);
    const since = { ...nothing, committed: committedAt(40), accepted: loss };
    expect(intakePlace(source, since)).toMatchObject({ position: 40, mark: { sent } });
  });

  it('is in the life that user shards have applied, where the store has forgotten the rebuild', () => {
    const traces = [{ topicId: 'new', offset: 29, life: 9 }];
    const behind = { ...nothing, committed: committedAt(30, 'new', 4), traces };
    expect(intakePlace(source, behind)).toMatchObject({ position: 20, mark: { life: 9 } });
    const there = { ...nothing, committed: committedAt(30, 'new', 9), traces };
    expect(intakePlace(source, there)).toMatchObject({ position: 30, mark: { sent } });
  });

  it('is behind a loss that was accepted there, with what was sent of the same topic', () => {
    const cut = intakePlace(source, { ...nothing, committed: committedAt(10), accepted });
    expect(cut).toMatchObject({ position: 20, mark: { sent }, fault: undefined });
    const recreated = intakePlace(source, {
      ...nothing,
      committed: committedAt(10, 'old'),
      accepted,
    });
    expect(recreated).toMatchObject({
      position: 20,
      mark: { topicId: 'new', sent: { count: 0 } },
      fault: undefined,
    });
  });

  it('is behind a first batch that cannot be read, once that is accepted', () => {
    const first = { ...accepted, kind: 'unreadable', from: 20, next: 21 };
    expect(intakePlace(source, { ...nothing, accepted: first }).position).toBe(21);
  });

  it('is not moved by a loss that was accepted elsewhere, of another topic, or before a further cut', () => {
    const committed = committedAt(10);
    for (const other of [{ from: 11 }, { topicId: 'older' }, { next: 19 }]) {
      const history = { ...nothing, committed, accepted: { ...accepted, ...other } };
      expect(intakePlace(source, history).fault?.kind).toBe('cut');
    }
  });
});
