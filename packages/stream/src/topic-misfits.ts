/**
 * Would a topic that somebody else created lose records, because it keeps them for too short a time
 * or refuses large ones? A topic may keep more than Freshet needs.
 */
type Config = Readonly<Record<string, string | undefined>>;

/** Each text continues the sentence "the topic has …". */
export function misfitsOf(wanted: Config, found: Config): string[] {
  return [...policy(wanted, found), ...limits(wanted, found)];
}

function policy(wanted: Config, found: Config): string[] {
  const isCompacted = /compact/.test(found['cleanup.policy'] ?? '');
  const should = wanted['cleanup.policy'] ?? 'delete';
  if (isCompacted === (should === 'compact')) return [];
  return [`cleanup.policy=${found['cleanup.policy']}, and needs ${should}`];
}

function limits(wanted: Config, found: Config): string[] {
  const expires = /delete/.test(found['cleanup.policy'] ?? '');
  const names = ['max.message.bytes', ...(expires ? ['retention.ms', 'retention.bytes'] : [])];
  return names.flatMap((name) => {
    const [least, is] = [limit(wanted[name]), limit(found[name])];
    const needs = least === Number.POSITIVE_INFINITY ? 'no limit (-1)' : `${least} or more`;
    return is < least ? [`${name}=${found[name]}, and needs ${needs}`] : [];
  });
}

/** -1 stands for no limit, and so does a setting that is absent. */
function limit(text: string | undefined): number {
  const value = Number(text ?? -1);
  return value < 0 ? Number.POSITIVE_INFINITY : value;
}
