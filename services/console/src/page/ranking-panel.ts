/** The share of each part in the ranking: a bar each for 0, 15 and 255 ratings of a user. */
import { rankingParts, rankingRatings, shareNames } from '../live/frame.ts';
import type { LiveModel } from '../live/live-model.ts';
import { count, share } from '../live/wording.ts';
import { found, made, say } from './element.ts';

type Part = (typeof rankingParts)[number];
type Ratings = (typeof rankingRatings)[number];

/** On a phone, a smaller share has no room for its figure. */
const LEAST_LABELLED = 0.08;
const words: Readonly<Record<Part, string>> = {
  own: "the user's own ratings",
  popular: 'what everybody rates',
  newcomers: 'what newcomers rate',
  now: 'what is rated now',
  next: 'what came after the last ratings',
};
const users: Readonly<Record<Ratings, string>> = {
  '0': 'newcomers',
  '15': '15 ratings',
  '255': '255 ratings or more',
};

export class RankingPanel {
  readonly #panel = found('ranking', HTMLElement);
  readonly #now = found('ranking-now', HTMLElement);
  readonly #bars = rankingRatings.map((ratings) => new Bar(ratings));

  constructor() {
    const legend = rankingParts.map((part) => made('li', { 'data-part': part }, words[part]));
    found('ranking-parts', HTMLElement).append(...legend);
    found('ranking-bars', HTMLElement).append(...this.#bars.map(({ row }) => row));
  }

  /** Hidden until the model has learnt weights. One that ranks by factors alone never does. */
  show({ series }: LiveModel): void {
    this.#panel.hidden = !shareNames.some((name) => series.series(name).some(Number.isFinite));
    if (this.#panel.hidden) return;
    say(this.#now, `learnt from ${count(series.latest('rankingLearnt'))} ratings`);
    for (const bar of this.#bars) {
      bar.show((part) => series.latest(`share:${part}:${bar.ratings}`));
    }
  }
}

class Bar {
  readonly row: HTMLElement;
  readonly #pieces = rankingParts.map((part) => ({
    part,
    element: made('span', { 'data-part': part }),
  }));
  readonly #bar = made('div', { class: 'bar', role: 'img' });
  readonly #none = made('span', { class: 'none' }, '–');

  constructor(readonly ratings: Ratings) {
    this.#bar.append(this.#none, ...this.#pieces.map(({ element }) => element));
    this.row = made('div', { class: 'share', 'data-ratings': ratings }, users[ratings], this.#bar);
  }

  show(shareOf: (part: Part) => number): void {
    for (const { part, element } of this.#pieces) {
      const value = shareOf(part);
      element.hidden = !(value > 0);
      element.style.flexGrow = String(element.hidden ? 0 : value);
      element.title = `${words[part]} ${share(value)}`;
      say(element, value >= LEAST_LABELLED ? share(value) : '');
    }
    this.#bar.ariaLabel = this.#pieces.map(({ element }) => element.title).join(', ');
    this.#none.hidden = this.#pieces.some(({ part }) => Number.isFinite(shareOf(part)));
  }
}
