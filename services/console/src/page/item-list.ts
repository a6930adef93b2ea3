/** A list of items: how each has moved since the last list, and five stars to rate it. */
import type { Listed, Moved } from '../live/list-moves.ts';
import { decimal } from '../live/wording.ts';
import { made } from './element.ts';

export interface ItemListActions {
  rate(item: Listed, value: number): void;
  explain(item: Listed): void;
  valueOf(item: string): number | undefined;
}

const STARS = [1, 2, 3, 4, 5];

export function showItems(
  list: HTMLOListElement,
  items: readonly (Listed | Moved)[],
  actions: ItemListActions,
): void {
  // A user of the keyboard keeps the focus on the same row.
  const at = [...list.children].findIndex((row) => row.matches(':focus-within'));
  list.replaceChildren(...items.map((item) => rowOf(item, actions)));
  const stop = list.children[at]?.querySelector<HTMLElement>('.stars [tabindex="0"]');
  stop?.focus({ preventScroll: true });
}

function rowOf(item: Listed | Moved, actions: ItemListActions): HTMLLIElement {
  const name = made('button', { type: 'button', class: 'name' }, nameOf(item));
  name.addEventListener('click', () => actions.explain(item));
  const reason = 'after' in item ? [`comes after ${item.after}`] : [];
  const kind = made('span', { class: 'kind' }, [...(item.categories ?? []), ...reason].join(', '));
  const score = made('span', { class: 'score' }, decimal(item.score, 2));
  const given = Math.round(actions.valueOf(item.item) ?? 0);
  const parts = [made('span', { class: 'what' }, name, kind), score, starsOf(item, given, actions)];
  const mark = 'gained' in item ? markOf(item.gained) : undefined;
  const row = made('li', { 'data-item': item.item, class: mark?.kind }, ...parts);
  if (mark) row.prepend(made('span', { class: 'mark', title: mark.words }, mark.sign));
  return row;
}

export function nameOf({ item, title }: Pick<Listed, 'item' | 'title'>): string {
  return title ?? item;
}

function markOf(gained: number | null): { kind: string; sign: string; words: string } {
  if (gained === null) return { kind: 'new', sign: 'new', words: 'was not on the list' };
  if (gained === 0) return { kind: 'same', sign: '', words: 'has not moved' };
  const places = Math.abs(gained);
  if (gained > 0) return { kind: 'up', sign: `▲${places}`, words: `${places} up` };
  return { kind: 'down', sign: `▼${places}`, words: `${places} down` };
}

/** The Tab key stops once at the group; the arrow keys move from star to star. */
function starsOf(item: Listed, given: number, { rate }: ItemListActions): HTMLElement {
  const first = given > 0 ? given : 1;
  const stars = STARS.map((value) => {
    const label = `${value} of 5 for ${nameOf(item)}`;
    const tabindex = value === first ? '0' : '-1';
    const kind = value <= given ? 'given' : undefined;
    const attributes = { type: 'button', 'aria-label': label, tabindex, class: kind };
    const star = made('button', attributes, '★');
    star.addEventListener('click', () => rate(item, value));
    return star;
  });
  const attributes = { class: 'stars', role: 'group', 'aria-label': `Rate ${nameOf(item)}` };
  const group = made('span', attributes, ...stars);
  group.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = stars.findIndex((star) => star.matches(':focus'));
    const next = step === undefined ? undefined : stars[at + step];
    if (next === undefined) return;
    next.focus();
    event.preventDefault();
  });
  return group;
}
