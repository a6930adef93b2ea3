/** How is markup written so that text from a file or a command line cannot become part of it? */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => entities[char] ?? char);
}

/** One element; attributes are escaped, the content is markup already. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  ...content: readonly string[]
): string {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escapeHtml(String(value))}"`,
  );
  return `<${name}${written.join('')}>${content.join('')}</${name}>`;
}
