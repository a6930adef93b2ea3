/**
 * Does a topic that somebody else configured keep what Freshet needs, and take what it writes? Only
 * what loses records counts: a topic may keep more than it must, and take larger ones.
 */
type Config = Readonly<Record<string, string | undefined>>;

/** Each continues "the topic has". */
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

/** -1 stands for no limit. What is latest of its key is wanted without one. */
function limit(text: string | undefined): number {
  const value = Number(text ?? -1);
  return value < 0 ? Number.POSITIVE_INFINITY : value;
}
