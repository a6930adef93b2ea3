/** Text of strangers inside a message: quoted, cut, and without anything that could move a terminal. */
const SHOWN_CHARACTERS = 60;

export function shownText(text: string): string {
  const cut = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
  return JSON.stringify(cut).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, escaped);
}

/** Any value of a record, in a few words. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return shownText(value);
  if (value === undefined) return 'nothing';
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Uint8Array) return 'bytes';
  return Array.isArray(value) ? 'a list' : 'an object';
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
