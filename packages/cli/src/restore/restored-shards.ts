/**
 * What must item shards not count after a restore? Between it and the snapshot the store may have
 * been lost and learnt again: user shards began another life, and what they sent in it is still on
 * `item-ratings`, behind the positions of the snapshot. The restored user shards send the same
 * decisions again, so what was sent in lives between the two does not count.
 */
import type { SavedShard } from '@freshet/store';
import type { VerifiedSnapshot } from './saved-model.ts';

/** `epoch`: of the restore; above every life that was before. */
export async function* restoredShards(
  { about, heads }: VerifiedSnapshot,
  shards: AsyncIterable<SavedShard>,
  epoch: number,
): AsyncGenerator<SavedShard> {
  const users = heads.filter(({ id }) => id.side === 'user');
  const lives = Object.fromEntries(
    users.map(({ id, state }) => [id.shard, state.facts.life ?? about.born]),
  );
  for await (const saved of shards) {
    const { facts } = saved.state;
    const restorations = [...facts.restorations, { epoch, lives }];
    const isItem = saved.id.side === 'item';
    yield isItem
      ? { ...saved, state: { ...saved.state, facts: { ...facts, restorations } } }
      : saved;
  }
}
