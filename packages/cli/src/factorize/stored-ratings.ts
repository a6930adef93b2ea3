/** Every rating that the store knows, from the rows of its users: what was judged once is not judged again. */
import { decodeRow, type FactorStore, type RowEntry, type ShardId } from '@freshet/store';

/** As many as the store loads as of one moment. */
const LOADED_AT_ONCE = 1_000;

/** The users of a shard, each with all that is in the row, the oldest first. */
export async function* storedRows(
  store: Pick<FactorStore, 'vectors' | 'load'>,
  shard: ShardId,
): AsyncGenerator<readonly [user: string, row: readonly RowEntry[]], void> {
  const users: string[] = [];
  for await (const [user] of store.vectors(shard)) users.push(user);
  for (let at = 0; at < users.length; at += LOADED_AT_ONCE) {
    const some = users.slice(at, at + LOADED_AT_ONCE);
    const found = await store.load(shard, some);
    for (const [nth, user] of some.entries()) {
      const body = found[nth]?.body;
      if (body) yield [user, [...decodeRow(body).values()]];
    }
  }
}
