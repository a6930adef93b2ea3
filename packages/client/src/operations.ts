/**
 * Every route of the HTTP API with its parameters, body and answer. Made from the OpenAPI document
 * of the scorer by test/client.test.ts, which fails if the two differ: with -u it writes this file.
 */

export interface ScoredItem {
  readonly item: string;
  /** what the list is ordered by; not a rating */
  readonly score: number;
  readonly title?: string;
  readonly categories?: readonly string[];
}

export interface Lag {
  readonly ratings: number;
  readonly ms: number;
}

export interface ModelState {
  readonly name: string;
  /** offset after the last record of user-ratings that the user’s shard has applied */
  readonly position: number | null;
  /** number of the last commit of that shard that the answer is known to include */
  readonly sequence: number | null;
  /** ratings of all users that were produced and are not in answers yet */
  readonly lag: Lag | null;
}

export interface Recommendation {
  readonly user: string;
  readonly items: readonly ScoredItem[];
  readonly model: ModelState;
  /** newcomer: the user or item has no ratings; the list is the one that newcomers get */
  readonly fallback: null | 'newcomer';
}

export interface Rating {
  readonly user: string;
  readonly item: string;
  /** null takes the rating back; absent means 1 */
  readonly value?: number | null | undefined;
  /** in ms since 1970; absent or null means now */
  readonly time?: number | null | undefined;
}

export interface Place {
  readonly partition: number;
  readonly offset: number;
}

export interface Operations {
  /** the score and the expected value of items for a user; the items are separated by commas */
  'GET /v1/estimates/{user}/{items}': {
    answer: {
      readonly user: string;
      readonly items: readonly {
        readonly item: string;
        /** what lists are ordered by; null for an item that nobody has rated */
        readonly score: number | null;
        /** the value that the user would give the item, on the scale of the ratings */
        readonly expectedValue: number;
      }[];
      readonly model: ModelState;
      /** newcomer: the user or item has no ratings; the list is the one that newcomers get */
      readonly fallback: null | 'newcomer';
    };
  };
  /** what is rated most now */
  'GET /v1/items/popular': {
    query: { readonly n?: number | undefined };
    answer: {
      readonly items: readonly ScoredItem[];
      readonly model: ModelState;
      /** newcomer: the user or item has no ratings; the list is the one that newcomers get */
      readonly fallback: null | 'newcomer';
    };
  };
  /** the items that users rated after one, by how much more often than chance */
  'GET /v1/items/{item}/next': {
    query: { readonly n?: number | undefined };
    answer: {
      readonly item: string;
      readonly items: readonly ScoredItem[];
      readonly model: ModelState;
      /** newcomer: the user or item has no ratings; the list is the one that newcomers get */
      readonly fallback: null | 'newcomer';
    };
  };
  /** the items most like one, by the cosine of their factors */
  'GET /v1/items/{item}/similar': {
    query: { readonly n?: number | undefined };
    answer: {
      readonly item: string;
      readonly items: readonly ScoredItem[];
      readonly model: ModelState;
      /** newcomer: the user or item has no ratings; the list is the one that newcomers get */
      readonly fallback: null | 'newcomer';
    };
  };
  /** rate one or many items; the answer has the partition and offset of each rating, for after= */
  'POST /v1/ratings': {
    body: Rating | readonly Rating[];
    answer: { readonly ratings: readonly Place[] };
  };
  /** take a rating back */
  'DELETE /v1/ratings/{user}/{item}': {
    answer: Place;
  };
  /** the best items for somebody with these ratings, oldest first; nothing is stored */
  'POST /v1/recommendations': {
    body: {
      readonly ratings: readonly { readonly item: string; readonly value?: number | undefined }[];
      readonly n?: number | undefined;
      readonly offset?: number | undefined;
      readonly exclude?: readonly string[] | undefined;
      readonly include_rated?: boolean | undefined;
      readonly category?: string | undefined;
    };
    answer: {
      readonly items: readonly ScoredItem[];
      readonly model: ModelState;
      /** newcomer: the user or item has no ratings; the list is the one that newcomers get */
      readonly fallback: null | 'newcomer';
    };
  };
  /** the best items for each of several users */
  'POST /v1/recommendations/batch': {
    body: {
      readonly users: readonly string[];
      readonly n?: number | undefined;
      readonly offset?: number | undefined;
      readonly exclude?: readonly string[] | undefined;
      readonly include_rated?: boolean | undefined;
      readonly category?: string | undefined;
    };
    answer: { readonly recommendations: readonly Recommendation[] };
  };
  /** the best items for a user */
  'GET /v1/recommendations/{user}': {
    query: {
      readonly n?: number | undefined;
      readonly offset?: number | undefined;
      readonly exclude?: readonly string[] | undefined;
      readonly include_rated?: boolean | undefined;
      readonly category?: string | undefined;
      readonly after?: string | undefined;
    };
    answer: Recommendation;
  };
  /** forget a user: all ratings, and everything that is stored under the id */
  'DELETE /v1/users/{user}': {
    answer: Place;
  };
  /** the ratings of a user and how fresh they are */
  'GET /v1/users/{user}': {
    answer: {
      readonly user: string;
      readonly ratings: readonly {
        readonly item: string;
        readonly value: number;
        readonly time: number;
      }[];
      readonly model: ModelState;
      /** newcomer: the user or item has no ratings; the list is the one that newcomers get */
      readonly fallback: null | 'newcomer';
    };
  };
  /** the parts of an item's score, such as the user's ratings; they add up to the score */
  'GET /v1/users/{user}/because/{item}': {
    answer: {
      readonly user: string;
      readonly score: number;
      readonly contributions: readonly {
        readonly item: string;
        readonly value: number;
        readonly contribution: number;
      }[];
      /** from how often the item is rated, in all and lately */
      readonly popular: number;
      /** from how often newcomers rate the item */
      readonly newcomers: number;
      /** what the mean vector of all users adds to the score */
      readonly mean: number;
      /** from items that the user rated last and that this one often comes after */
      readonly after: readonly { readonly item: string; readonly contribution: number }[];
      /** the part that the others do not explain, because the vector has not fully converged */
      readonly rest: number;
      readonly model: ModelState;
      /** newcomer: the user or item has no ratings; the list is the one that newcomers get */
      readonly fallback: null | 'newcomer';
    };
  };
}
