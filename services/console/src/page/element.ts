/** Elements of the page: those that are in it, found by id, and those that are made. */
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

/** Writes only what differs: a browser has nothing to do for a text that stays. */
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
