/** Records as producers have them: which field is which, by usual names or by RATING_FIELDS. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { poisonReasons } from './poison-record.ts';
import { type RatingFields, usualNames } from './rating-fields.ts';
import { RatingReader } from './rating-reader.ts';
import type { RatingKinds } from './rating-value.ts';

const NOW = 1_700_000_000_000;

function read(record: object | string, fields: RatingFields = {}, kinds: RatingKinds = new Map()) {
  const text = typeof record === 'string' ? record : JSON.stringify(record);
  const reader = new RatingReader({ valueMax: 100, schemaIds: [], fields, kinds });
  return reader.read({ key: null, value: Buffer.from(text), timestamp: NOW });
}

describe('without RATING_FIELDS a field', () => {
  it('is found by each of its usual names', () => {
    for (const user of usualNames.user) {
      expect(read({ [user]: 'u', item: 'i' }), user).toMatchObject({ user: 'u' });
    }
    for (const item of usualNames.item) {
      expect(read({ user: 'u', [item]: 'i' }), item).toMatchObject({ item: 'i' });
    }
    for (const value of usualNames.value) {
      expect(read({ user: 'u', item: 'i', [value]: 3 }), value).toMatchObject({ value: 3 });
      expect(read({ user: 'u', item: 'i', [value]: null }), value).toMatchObject({
        kind: 'unrate',
      });
    }
    for (const time of usualNames.time) {
      expect(read({ user: 'u', item: 'i', [time]: NOW - 5 }), time).toMatchObject({
        time: NOW - 5,
      });
    }
  });

  it('is the preferred one of several, in whatever order the record has them', () => {
    expect(read({ uid: 'c', user_id: 'b', userId: 'a', sku: 'y', item_id: 'x' })).toMatchObject({
      user: 'a',
      item: 'x',
    });
    expect(read({ user: 'u', item: 'i', stars: 1, rating: 2 })).toMatchObject({ value: 2 });
    expect(read({ user: 'u', item: 'i', value: null, rating: 2 })).toMatchObject({
      kind: 'unrate',
    });
  });

  it('is not an object, nor a null, where another name has a plain value', () => {
    const record = { user: { name: 'Ann' }, userId: 'u', item: null, itemId: 'i', time: null };
    expect(read({ ...record, ts: NOW - 1 })).toMatchObject({ user: 'u', item: 'i', time: NOW - 1 });
  });

  it('is told where it is an object: another time or kind is not made up for it', () => {
    expect(() => read({ user: 'u', item: 'i', time: { s: 5 } })).toThrow(/not an object/);
    const kinds = new Map([['view', 1]]);
    expect(() => read({ user: 'u', item: 'i', kind: ['view'] }, {}, kinds)).toThrow(/not a list/);
  });

  it('that is missing is told with the names that were tried', () => {
    expect(() => read({ item: 'i' })).toThrow(
      /no user: say where it is by RATING_FIELDS=user=.* \(user, userId, user_id, /,
    );
    expect(() => read({ user: 'u', product: { id: 3 } })).toThrow(
      'no item: product is an object; name a field in it, like RATING_FIELDS=item=product.id',
    );
  });
});

describe('with RATING_FIELDS a field', () => {
  it('is what lies at the end of its path, through objects and lists', () => {
    const record = { a: { b: [{ c: 'u' }, { c: 'v' }] }, item: 'i' };
    expect(read(record, { user: 'a.b.1.c' })).toMatchObject({ user: 'v' });
  });

  it('is looked for nowhere else', () => {
    expect(() => read({ user: 'u', item: 'i' }, { user: 'account' })).toThrow(
      'no user: the record has nothing at "account", where RATING_FIELDS looks for it',
    );
    expect(() => read({ account: { id: 1 }, item: 'i' }, { user: 'account' })).toThrow(
      'no user: the record has an object at "account", where RATING_FIELDS looks for it',
    );
    expect(read({ user: 'u', item: 'i', value: 9 }, { value: 'stars' })).toMatchObject({
      value: 1,
    });
    expect(read({ user: 'u', item: 'i', time: 5 }, { time: 'at' })).toMatchObject({ time: NOW });
  });

  it('leaves the other fields to their usual names', () => {
    const record = { account: 'u', productId: 'i', score: 2 };
    expect(read(record, { user: 'account' })).toMatchObject({ user: 'u', item: 'i', value: 2 });
  });

  it('may have a key with dots in it, which comes before the path', () => {
    const record = { 'product.id': 'key', product: { id: 'path' }, user: 'u' };
    expect(read(record, { item: 'product.id' })).toMatchObject({ item: 'key' });
    const span = { attributes: { 'user.id': 'u', 'shop.cart': [{ 'art.nr': 'i' }] } };
    const fields = { user: 'attributes.user.id', item: 'attributes.shop.cart.0.art.nr' };
    expect(read(span, fields)).toMatchObject({ user: 'u', item: 'i' });
  });

  it('is only what the producer sent, never what objects and texts have by nature', () => {
    for (const path of [
      'constructor.name',
      '__proto__.constructor.name',
      'toString',
      'item.length',
    ]) {
      expect(() => read({ item: 'i' }, { user: path }), path).toThrow(/nothing at/);
    }
    const own = '{"item":"i","__proto__":{"id":"u"}}';
    expect(read(own, { user: '__proto__.id' })).toMatchObject({ user: 'u' });
  });
});

describe('with RATING_KINDS an event', () => {
  const kinds = new Map([
    ['view', 1],
    ['like', 4],
    ['7', 2],
    ['remove', null],
  ]);
  const event = (fields: object) => read({ user: 'u', item: 'i', ...fields }, {}, kinds);

  it('is worth what its kind says', () => {
    expect(event({ kind: 'view' })).toMatchObject({ kind: 'rate', value: 1 });
    expect(event({ type: 'like' })).toMatchObject({ kind: 'rate', value: 4 });
    expect(event({ eventType: 7 })).toMatchObject({ kind: 'rate', value: 2 });
    expect(event({ action: 'remove' })).toMatchObject({ kind: 'unrate' });
  });

  it('is worth its own value where it has one, unless its kind takes the rating back', () => {
    expect(event({ kind: 'view', value: 3 })).toMatchObject({ value: 3 });
    expect(event({ kind: 'view', value: null })).toMatchObject({ kind: 'rate', value: 1 });
    expect(event({ kind: 'remove', value: 3 })).toMatchObject({ kind: 'unrate' });
    expect(() => event({ kind: 'view', value: 101 })).toThrow(/from 0 to 100, not 101/);
  });

  it('without a kind is read as if there were none', () => {
    expect(event({})).toMatchObject({ value: 1 });
    expect(event({ value: 5, kind: null })).toMatchObject({ value: 5 });
    expect(event({ value: null })).toMatchObject({ kind: 'unrate' });
  });

  it('of an unknown kind is refused with the kinds there are', () => {
    expect(() => event({ kind: 'View' })).toThrow(
      'kind "View" is not one of RATING_KINDS ("view", "like", "7", "remove")',
    );
    for (const kind of ['toString', '__proto__', '']) {
      expect(() => event({ kind }), kind).toThrow(/is not one of RATING_KINDS/);
    }
    expect(() => event({ kind: '\u001b]0;x\u0007\u202e' })).toThrow(/^kind "[ -~]*" is not one/);
  });

  it('may have any kind while RATING_KINDS is empty', () => {
    expect(read({ user: 'u', item: 'i', kind: 'whatever' })).toMatchObject({ value: 1 });
  });
});

describe('the page about records', () => {
  const page = readFileSync(new URL('../../../docs/ratings.md', import.meta.url), 'utf8');

  it('lists the usual names of every field', () => {
    for (const [field, names] of Object.entries(usualNames)) {
      const listed = names.map((name) => `\`${name}\``).join(', ');
      expect(page).toContain(`| ${field} | ${listed} |`);
    }
  });

  it('tells what each reason for parking means', () => {
    const listed = [...page.matchAll(/^\| `([a-z-]+)` \| /gm)].map(([, reason]) => reason);
    expect(listed).toEqual([...poisonReasons]);
  });
});
