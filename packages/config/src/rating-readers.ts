/** Readers of the settings that tell where ratings come from and what their records look like. */
import { BadValue, list, listOf, type Reader } from './readers.ts';

const ratingFieldNames = ['user', 'item', 'value', 'time', 'kind'] as const;
type RatingFieldName = (typeof ratingFieldNames)[number];

const namesOfTopics = listOf(
  /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}$/,
  'topic names, each 1 to 249 of A-Z, a-z, 0-9, ".", "_" and "-"',
);

/** Names that Kafka accepts for topics, each once. */
export const topicNames: Reader<readonly string[]> = (given) => {
  const names = namesOfTopics(given);
  refuseRepetition(names);
  return names;
};

/** `user=userId,item=product.id`: the path of each field that has none of its usual names. */
export const ratingFields: Reader<Readonly<Partial<Record<RatingFieldName, string>>>> = (given) => {
  if (given.trim() === '') return {};
  const pairs = list(given).map((part): [RatingFieldName, string] => {
    const [name = '', path = ''] = part.split(/=(.*)/s).map((side) => side.trim());
    const field = ratingFieldNames.find((known) => known === name);
    if (field === undefined || path.split('.').includes('')) {
      throw new BadValue(
        `must be like user=userId,item=product.id with the fields ${ratingFieldNames.join(', ')}, not "${part}"`,
      );
    }
    return [field, path];
  });
  refuseRepetition(pairs.map(([field]) => field));
  return Object.fromEntries(pairs);
};

/** `view:1,purchase:5,remove:null`: the rating value of each kind of event. */
export const ratingKinds: Reader<ReadonlyMap<string, number | null>> = (given) => {
  if (given.trim() === '') return new Map();
  const pairs = list(given).map((part): [string, number | null] => {
    // The last colon separates: the name of a kind may contain colons.
    const [, kind, value] = /^(.*\S)\s*:\s*(null|\d+(?:\.\d+)?)$/s.exec(part) ?? [];
    if (kind === undefined || value === undefined) {
      throw new BadValue(
        `must be like view:1,purchase:5,remove:null, each value a number from 0 up or null, not "${part}"`,
      );
    }
    return [kind, value === 'null' ? null : Number(value)];
  });
  refuseRepetition(pairs.map(([kind]) => kind));
  return new Map(pairs);
};

function refuseRepetition(names: readonly string[]): void {
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated !== undefined) throw new BadValue(`names "${repeated}" more than once`);
}
