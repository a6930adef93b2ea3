/** Rates an item as a user, waits until the rating is applied, and shows the new list. */
import { type JustRated, type Listed, moves, movesInWords } from '../live/list-moves.ts';
import { found, made, say } from './element.ts';
import { itemDetails } from './item-details.ts';
import { type ItemListActions, nameOf, showItems } from './item-list.ts';
import { askJson, Refused, tell } from './server.ts';

interface List {
  readonly items: readonly Listed[];
  readonly fallback: string | null;
}

const USER = 'freshet-user';
const LENGTH = 10;
/** How many of the items that come after the rated one are asked for, to explain moves. */
const FOLLOWERS = 50;
/** Each attempt waits about a second. An updater that takes longer than all of them is reported. */
const TRIES = 15;
/** Titles that are kept from lists: the reasons of a score name items by id alone. */
const TITLES = 2_000;

const NOTHING = 'no rating has been learnt yet: what there is to rate appears with the first ones';
const fallbacks: Readonly<Record<string, string>> = {
  newcomer:
    'this user has no ratings yet: these are items that newcomers rate and that are popular now',
};

export class RatePanel {
  readonly #form = found('user-form', HTMLFormElement);
  readonly #input = found('user', HTMLInputElement);
  readonly #status = found('rate-status', HTMLElement);
  readonly #heading = found('recommended-heading', HTMLElement);
  readonly #list = found('recommended', HTMLOListElement);
  readonly #popular = found('popular', HTMLOListElement);
  readonly #details = found('details', HTMLElement);
  readonly #titles = new Map<string, string>();
  readonly #ratings = new Map<string, number>();
  #shown: readonly Listed[] = [];
  #popularItems: readonly Listed[] = [];
  /** Counts the user's actions: an answer to an earlier action is dropped. */
  #question = 0;

  constructor() {
    this.#input.value = sessionStorage.getItem(USER) ?? 'you';
    const known = ['you', 'ada'].map((value) => made('option', { value }));
    found('known-users', HTMLDataListElement).append(...known);
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.open();
    });
  }

  get #user(): string {
    return this.#input.value.trim();
  }

  get isOpen(): boolean {
    return this.#shown.length > 0;
  }

  async open(): Promise<void> {
    const user = this.#user;
    if (user === '') return;
    sessionStorage.setItem(USER, user);
    await this.#attempt(async (isCurrent) => {
      const id = encodeURIComponent(user);
      const [list, popular, about] = await Promise.all([
        askJson<List>(`/v1/recommendations/${id}?n=${LENGTH}`),
        askJson<List>(`/v1/items/popular?n=${LENGTH}`),
        askJson<{ ratings: readonly { item: string; value: number }[] }>(`/v1/users/${id}`),
      ]);
      if (!isCurrent()) return;
      this.#ratings.clear();
      for (const { item, value } of about.ratings) this.#ratings.set(item, value);
      this.#popularItems = popular.items;
      say(this.#heading, `Recommended for ${user}`);
      this.#show(list, list.items);
      const own = `${about.ratings.length} ratings known`;
      const known = list.fallback === null ? own : (fallbacks[list.fallback] ?? own);
      say(this.#status, popular.items.length === 0 ? NOTHING : known);
    });
  }

  async #rate(item: Listed, value: number): Promise<void> {
    const user = this.#user;
    const clicked = performance.now();
    say(this.#status, `rating ${nameOf(item)} …`);
    await this.#attempt(async (isCurrent) => {
      type Places = { readonly partition: number; readonly offset: number }[];
      const rating = { user, item: item.item, value };
      const [place] = (await tell<{ ratings: Places }>('/v1/ratings', rating)).ratings;
      if (place === undefined) throw new Refused(502, 'the rating was not accepted');
      const list = await this.#listAfter(user, `${place.partition}:${place.offset}`, isCurrent);
      const milliseconds = Math.round(performance.now() - clicked);
      if (list === undefined || !isCurrent()) return;
      this.#ratings.set(item.item, value);
      const moved = moves(this.#shown, list.items, await this.#justRated(item));
      if (!isCurrent()) return;
      this.#show(list, moved);
      const done = `${milliseconds} ms from the click to the new list`;
      say(this.#status, `${nameOf(item)} rated ${value}: ${movesInWords(moved)}; ${done}`);
      this.#status.dataset.milliseconds = String(milliseconds);
    });
  }

  async #justRated(item: Listed): Promise<JustRated> {
    const path = `/v1/items/${encodeURIComponent(item.item)}/next?n=${FOLLOWERS}`;
    // If this fails, the list is shown without the reasons of its moves.
    const { items } = await askJson<Pick<List, 'items'>>(path).catch(() => ({ items: [] }));
    return { name: nameOf(item), followers: new Set(items.map((each) => each.item)) };
  }

  /** The scorer waits until the rating is applied, or answers 409; then the page asks again. */
  async #listAfter(
    user: string,
    place: string,
    isCurrent: () => boolean,
  ): Promise<List | undefined> {
    const path = `/v1/recommendations/${encodeURIComponent(user)}?n=${LENGTH}&after=${place}`;
    for (let tries = 1; isCurrent(); tries++) {
      try {
        return await askJson<List>(path);
      } catch (error) {
        if (!(error instanceof Refused && error.status === 409) || tries === TRIES) throw error;
        say(this.#status, `accepted, not applied yet: ${error.message}`);
      }
    }
    return undefined;
  }

  #show({ items }: List, rows: readonly Listed[]): void {
    for (const { item, title } of [...items, ...this.#popularItems]) {
      if (title !== undefined && this.#titles.size < TITLES) this.#titles.set(item, title);
    }
    this.#shown = items;
    const actions: ItemListActions = {
      rate: (item, value) => void this.#rate(item, value),
      explain: (item) => void this.#explain(item),
      valueOf: (item) => this.#ratings.get(item),
    };
    showItems(this.#list, rows, actions);
    showItems(this.#popular, this.#popularItems, actions);
  }

  async #explain(item: Listed): Promise<void> {
    await this.#attempt(async (isCurrent) => {
      const titleOf = (id: string) => this.#titles.get(id) ?? id;
      const parts = await itemDetails(this.#user, item, titleOf);
      if (isCurrent()) this.#details.replaceChildren(...parts);
    });
  }

  /** Shows an error to the user, unless another action was begun meanwhile. */
  async #attempt(work: (isCurrent: () => boolean) => Promise<void>): Promise<void> {
    const question = ++this.#question;
    const isCurrent = () => question === this.#question;
    try {
      await work(isCurrent);
    } catch (error) {
      if (isCurrent()) say(this.#status, `that did not work: ${(error as Error).message}`);
    }
  }
}
