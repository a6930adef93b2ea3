/**
 * Can the model go on from a snapshot with this Kafka and these settings? The internal topics must
 * be those of the snapshot, and still hold what follows its positions. Otherwise ratings would be
 * lost, or count twice, so the snapshot is refused with the reason.
 */
import { topicName } from '@freshet/events';
import { claimsAreBehind, lookAtSource, readSources, sourceTopic } from '@freshet/positions';
import type { Birth, Manifest } from '@freshet/store';
import type { TopicAdmin } from '@freshet/stream';
import type { SavedHead } from '../snapshot/saved-blocks.ts';
import type { VerifiedSnapshot } from './saved-model.ts';

interface Target {
  readonly admin: Pick<TopicAdmin, 'ranges' | 'topicId' | 'committed' | 'exists'>;
  readonly model: string;
  readonly manifest: Manifest;
  /** Topics that ratings come from. */
  readonly topics: readonly string[];
  /** What the store holds now; null: nothing. */
  readonly birth: Birth | null;
}

/** Everything that speaks against the restore, each in one line; empty if nothing does. */
export async function obstacles(
  { about, heads }: VerifiedSnapshot,
  target: Target,
): Promise<string[]> {
  const { admin, model, manifest, topics, birth } = target;
  const others = otherSettings(about.manifest, manifest);
  if (others.length > 0) return others;
  const found: string[] = [];
  const epoch = highestEpoch(heads);
  if (await claimsAreBehind(admin, model, { fence: epoch })) {
    found.push(
      `${topicName('claims', model)} ends below ${epoch}: it is not the topic of the snapshot`,
    );
  }
  for (const { id, state } of heads) {
    const topic = topicName(sourceTopic[id.side], model);
    const { fault } = await lookAtSource({ admin, topic, agreement: about }, id, state);
    if (fault !== undefined) found.push(`${topic}/${id.shard}: ${fault.what}`);
  }
  const lives = (await readSources(admin, model, topics)).map(({ mark }) => mark.life);
  const rebuilt = Math.max(birth?.rebuilt ?? 0, ...lives);
  // Not the rebuild that the snapshot knows of: a store that was lost after it has forgotten it.
  if (rebuilt > about.born) {
    found.push(
      'the model was rebuilt after the snapshot (freshet rebuild): its sources were read again, ' +
        'and would count twice',
    );
  }
  return found;
}

export function highestEpoch(heads: readonly SavedHead[]): number {
  return heads.reduce((highest, { epoch }) => Math.max(highest, epoch), 0);
}

const settingOf: Record<keyof Manifest, string> = {
  format: 'the store format',
  factorCount: 'FACTOR_COUNT',
  loss: 'LOSS',
  ratingMax: 'RATING_MAX',
  shards: 'SHARDS',
};

function otherSettings(saved: Manifest, wanted: Manifest): string[] {
  const names = Object.keys(settingOf) as (keyof Manifest)[];
  return names
    .filter((name) => saved[name] !== wanted[name])
    .map((name) => {
      const differ = `${settingOf[name]} of the snapshot is ${saved[name]}, not ${wanted[name]}`;
      return `${differ}: ${name === 'format' ? 'use the version that took it' : 'set it back'}`;
    });
}
