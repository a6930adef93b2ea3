/** Why an item is on the list, and which items are similar: fetched on a click. */
import type { Listed } from '../live/list-moves.ts';
import { decimal } from '../live/wording.ts';
import { made } from './element.ts';
import { nameOf } from './item-list.ts';
import { askJson } from './server.ts';

interface Reasons {
  readonly score: number;
  readonly contributions: readonly { item: string; value: number; contribution: number }[];
  readonly popular: number;
  readonly newcomers: number;
  readonly mean: number;
  readonly after: readonly { item: string; contribution: number }[];
  readonly rest: number;
}

/** As many rows as fit beside the list. The contributions of the others are summed in one row. */
const TOLD = 6;

export async function itemDetails(
  user: string,
  item: Listed,
  titleOf: (item: string) => string,
): Promise<HTMLElement[]> {
  const id = encodeURIComponent(item.item);
  const [reasons, alike] = await Promise.all([
    askJson<Reasons>(`/v1/users/${encodeURIComponent(user)}/because/${id}`),
    askJson<{ items: readonly Listed[] }>(`/v1/items/${id}/similar?n=${TOLD}`),
  ]);
  const similar = alike.items.map((other) =>
    made('li', {}, nameOf(other), made('span', { class: 'score' }, decimal(other.score, 2))),
  );
  return [
    made('h3', {}, `Why ${nameOf(item)}?`),
    reasonsTable(reasons, titleOf),
    made('h3', {}, `Like ${nameOf(item)}`),
    made('ol', { class: 'similar' }, ...similar),
  ];
}

function reasonsTable(reasons: Reasons, titleOf: (item: string) => string): HTMLElement {
  const { contributions, popular, newcomers, mean, after, rest, score } = reasons;
  const told = contributions.slice(0, TOLD);
  const others = contributions.slice(TOLD);
  const parts = told.map(({ item, value, contribution }) => ({
    what: `${titleOf(item)}, rated ${decimal(value, 0)}`,
    contribution,
  }));
  if (others.length > 0) {
    const sum = others.reduce((total, { contribution }) => total + contribution, 0);
    parts.push({ what: `${others.length} other ratings`, contribution: sum });
  }
  for (const { item, contribution } of after) {
    parts.push({ what: `came after ${titleOf(item)}`, contribution });
  }
  parts.push({ what: 'what everybody likes', contribution: mean });
  parts.push({ what: 'what is popular now', contribution: popular });
  parts.push({ what: 'what newcomers take', contribution: newcomers });
  if (Math.abs(rest) >= 0.005) parts.push({ what: 'not explained yet', contribution: rest });
  const largest = Math.max(...parts.map(({ contribution }) => Math.abs(contribution)), 1e-9);
  const rows = parts.map(({ what, contribution }) => {
    const share = String(Math.abs(contribution) / largest);
    const bar = made('meter', { min: '0', max: '1', value: share, 'aria-label': what });
    const cells = [made('td', {}, bar), made('td', { class: 'score' }, decimal(contribution, 2))];
    const kind = contribution < 0 ? 'against' : undefined;
    return made('tr', { class: kind }, made('th', { scope: 'row' }, what), ...cells);
  });
  const total = [made('td'), made('td', { class: 'score' }, decimal(score, 2))];
  rows.push(made('tr', { class: 'total' }, made('th', { scope: 'row' }, 'score'), ...total));
  return made('table', { class: 'reasons plain' }, made('tbody', {}, ...rows));
}
