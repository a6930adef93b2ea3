/** Names in settings in which * stands for any text. */
export function matcher(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`);
  });
  return (name) => expressions.some((expression) => expression.test(name));
}
