import { describe, expect, it } from 'vitest';
import { ratingFields, ratingKinds, topicNames } from './rating-readers.ts';
import { readSettings } from './read-settings.ts';
import { BadValue } from './readers.ts';

describe('the topics that ratings come from', () => {
  it('are one or more names that Kafka accepts', () => {
    expect(topicNames('ratings')).toEqual(['ratings']);
    expect(topicNames('shop.views, shop_Likes-2')).toEqual(['shop.views', 'shop_Likes-2']);
    expect(topicNames('x'.repeat(249))).toHaveLength(1);
    for (const bad of ['', ',', 'a,,b', 'a b', 'a/b', '.', '..', 'a*', 'ä', 'x'.repeat(250)]) {
      expect(() => topicNames(bad), bad).toThrow(BadValue);
    }
  });

  it('are named once each: a topic read twice would be a mistake', () => {
    expect(() => topicNames('a,b,a')).toThrow('names "a" more than once');
  });
});

describe('the fields of a rating', () => {
  it('are paths by field; nothing given, none', () => {
    expect(ratingFields('')).toEqual({});
    expect(ratingFields('user=userId, item = product.id,kind=type')).toEqual({
      user: 'userId',
      item: 'product.id',
      kind: 'type',
    });
    expect(ratingFields('value=a=b')).toEqual({ value: 'a=b' });
  });

  it('are refused where a field is unknown, repeated or has no path', () => {
    for (const bad of ['userId', 'colour=x', 'user=', '=x', 'user=a..b', 'user=.a', 'user=a.']) {
      expect(() => ratingFields(bad), bad).toThrow(/must be like user=userId/);
    }
    expect(() => ratingFields('user=a,user=b')).toThrow('names "user" more than once');
    expect(() => ratingFields('__proto__=a')).toThrow(BadValue);
  });
});

describe('the kinds of a rating', () => {
  it('are values by name, null for taking back; nothing given, none', () => {
    expect(ratingKinds('').size).toBe(0);
    expect([...ratingKinds('view:1, Product Liked:4.5,a:b:0,remove:null')]).toEqual([
      ['view', 1],
      ['Product Liked', 4.5],
      ['a:b', 0],
      ['remove', null],
    ]);
  });

  it('are refused where a value is no rating or a name is missing or repeated', () => {
    for (const bad of ['view', 'view:', ':1', 'view:-1', 'view:x', 'view:1e400', 'view:NaN']) {
      expect(() => ratingKinds(bad), bad).toThrow(BadValue);
    }
    expect(() => ratingKinds('view:1,view:2')).toThrow('names "view" more than once');
  });

  it('stay within RATING_MAX', () => {
    const kinds = { RATING_KINDS: 'view:1,purchase:50' };
    expect(readSettings({ ...kinds, RATING_MAX: '50' }).RATING_KINDS.get('purchase')).toBe(50);
    expect(() => readSettings({ ...kinds, RATING_MAX: '5' })).toThrow(
      'RATING_KINDS has purchase:50 and RATING_MAX is 5: lower the value or raise RATING_MAX',
    );
  });
});
