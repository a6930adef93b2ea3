/** Finds elements of the page by id, and makes new ones. */
type Attributes = Readonly<Record<string, string | undefined>>;
type Child = Node | string;

export function found<T extends Element>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`the page has no ${type.name} #${id}`);
  return element;
}

export function made<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return dressed(document.createElement(tag), attributes, children);
}

export function drawn<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return dressed(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/** Sets the text only if it differs, which spares the browser a layout. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function dressed<E extends Element>(
  element: E,
  attributes: Attributes,
  children: readonly Child[],
): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}
