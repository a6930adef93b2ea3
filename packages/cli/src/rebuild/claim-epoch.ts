/** An epoch of one's own, as an updater gets it: the offset of a claim, plus one. */
import { topicName } from '@freshet/events';
import type { Publisher } from '@freshet/stream';

/** Claims until the epoch is above `least`, which it is at once unless the topic was created anew. */
export async function claimEpoch(
  publisher: Pick<Publisher, 'append'>,
  model: string,
  { key, least }: { readonly key: string; readonly least: number },
): Promise<number> {
  const claim = { topic: topicName('claims', model), partition: 0, key, value: null };
  for (;;) {
    const epoch = (await publisher.append(claim)) + 1;
    if (epoch > least) return epoch;
  }
}
