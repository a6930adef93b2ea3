/**
 * How is a result written as JSON? The same fields under snake-case names, and null where there is
 * none.
 */

export function toJson(value: unknown): unknown {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [snakeCase(key), toJson(inner)]),
  );
}

/** hitRate10Cold → hit_rate_10_cold */
export function snakeCase(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[a-zA-Z])(?=\d)/g, '_').toLowerCase();
}
