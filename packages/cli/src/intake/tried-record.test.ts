/**
 * Records as well-known producers write them, and as hostile ones do: what the settings make of
 * each.
 */
import { readSettings } from '@freshet/config';
import { encodeRating, RatingReader, ratingRules } from '@freshet/events';
import { describe, expect, it } from 'vitest';
import { jsonOf, lineOf, TriedTally, tryRecord } from './tried-record.ts';

const NOW = Date.UTC(2024, 4, 17, 12);

function readerWith(RATING_FIELDS = '', RATING_KINDS = ''): RatingReader {
  return new RatingReader(ratingRules(readSettings({ RATING_FIELDS, RATING_KINDS })));
}

function tried(reader: RatingReader, value: object | string | Buffer | null, key?: string) {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return tryRecord(reader, 'shop/3@17', {
    key: key === undefined ? null : Buffer.from(key),
    value: bytes === null || Buffer.isBuffer(bytes) ? bytes : Buffer.from(JSON.stringify(bytes)),
    timestamp: NOW,
  });
}

const line = (...given: Parameters<typeof tried>): string => lineOf(tried(...given));

describe('records of well-known producers', () => {
  it('Segment: an event with properties', () => {
    const event = {
      type: 'track',
      event: 'Product Added',
      userId: '97980cfea0067',
      anonymousId: '507f191e810c19729de860ea',
      messageId: 'ajs-f8ca1e4de5024d9430b3928bd8ac6b96',
      timestamp: '2024-05-17T11:59:58.123Z',
      properties: { product_id: '622c6f5d5cf86a4c77358033', sku: '8472-998-0112', price: 40 },
      context: { ip: '8.8.8.8', library: { name: 'analytics.js', version: '2.11.1' } },
    };
    const reader = readerWith(
      'item=properties.product_id,value=properties.rating,kind=event',
      'Product Viewed:1,Product Added:3,Product Removed:null',
    );
    const who = 'shop/3@17  user "97980cfea0067"  item "622c6f5d5cf86a4c77358033"';
    expect(line(reader, event)).toBe(`${who}  value 3  time 2024-05-17T11:59:58.123Z`);
    expect(line(reader, { ...event, event: 'Product Removed' })).toContain('un-rate');
    expect(line(reader, { ...event, event: 'Page Loaded' })).toBe(
      'shop/3@17  parked: bad-kind: kind "Page Loaded" is not one of RATING_KINDS ("Product Viewed", "Product Added", "Product Removed")',
    );
    expect(line(reader, { ...event, userId: null })).toBe(
      'shop/3@17  parked: bad-id: no user: userId is null',
    );
  });

  it('Debezium: the row after a change, in an envelope', () => {
    const change = {
      before: null,
      after: { id: 1004, user_id: 42, movie_id: 318, stars: 4.5, rated_at: 1_715_947_140_000_000 },
      source: { connector: 'postgresql', table: 'ratings', ts_ms: NOW - 60_000 },
      op: 'c',
      ts_ms: NOW - 1_000,
    };
    const reader = readerWith(
      'user=after.user_id,item=after.movie_id,value=after.stars,time=after.rated_at',
    );
    expect(line(reader, change)).toBe(
      'shop/3@17  user "42"  item "318"  value 4.5  time 2024-05-17T11:59:00.000Z',
    );
    expect(line(reader, { ...change, op: 'd', before: change.after, after: null })).toBe(
      'shop/3@17  parked: bad-id: no user: the record has nothing at "after.user_id", where RATING_FIELDS looks for it',
    );
  });

  it('Shopify: an order with its customer and its first line', () => {
    const order = {
      id: 450_789_469,
      created_at: '2024-05-17T07:30:00-04:00',
      customer: { id: 207_119_551, email: 'bob@example.com' },
      line_items: [{ product_id: 632_910_392, quantity: 1 }, { product_id: 921_728_736 }],
    };
    const reader = readerWith('user=customer.id,item=line_items.0.product_id');
    expect(line(reader, order)).toBe(
      'shop/3@17  user "207119551"  item "632910392"  value 1  time 2024-05-17T11:30:00.000Z',
    );
    expect(line(readerWith(), order)).toBe(
      'shop/3@17  parked: bad-id: no user: customer is an object; name a field in it, like RATING_FIELDS=user=customer.id',
    );
  });

  it('Snowplow: a flat event with times without a zone', () => {
    const event = {
      app_id: 'shop',
      event: 'struct',
      user_id: 'ann',
      domain_userid: 'bc2e92ec6c204a14',
      derived_tstamp: '2024-05-17 11:59:59.250',
      se_action: 'add-to-basket',
      se_property: 'sku-9',
      se_value: 2.0,
    };
    const reader = readerWith(
      'item=se_property,kind=se_action,time=derived_tstamp',
      'view:1,add-to-basket:4',
    );
    expect(line(reader, event)).toBe(
      'shop/3@17  user "ann"  item "sku-9"  value 4  time 2024-05-17T11:59:59.250Z',
    );
  });

  it('MovieLens as JSON needs no setting', () => {
    const rating = { userId: 1, movieId: 1193, rating: 5, timestamp: 978_300_760 };
    expect(line(readerWith(), rating)).toBe(
      'shop/3@17  user "1"  item "1193"  value 5  time 2000-12-31T22:12:40.000Z',
    );
  });

  it('Freshet’s own Avro means the same whatever the settings are', () => {
    const rating = { user: 'u', item: 'i', value: 2, time: NOW - 1 };
    const withId = (id: number) =>
      Buffer.concat([Buffer.of(0, 0, 0, 0, id), encodeRating(rating).subarray(10)]);
    const expected = 'shop/3@17  user "u"  item "i"  value 2  time 2024-05-17T11:59:59.999Z';
    for (const reader of [readerWith(), readerWith('user=nobody,item=nothing', 'view:1')]) {
      expect(line(reader, encodeRating(rating))).toBe(expected);
      expect(line(reader, withId(1))).toBe(expected);
    }
    expect(line(readerWith(), withId(9))).toBe(
      'shop/3@17  parked: unknown-schema: schema id 9: it is neither in RATING_SCHEMA_IDS nor in RATING_SCHEMAS, and SCHEMA_REGISTRY_URL is not set',
    );
  });
});

describe('records that nobody should trust', () => {
  it('show nothing that could move a terminal', () => {
    const hostile = '\u001b[2J\u0007\u202egnp.exe\u2028';
    for (const shown of [
      line(readerWith(), { user: hostile, item: hostile }),
      line(readerWith('', 'view:1'), { user: 'u', item: 'i', kind: hostile }),
      line(readerWith(), { user: 'u', item: 'i', time: hostile }),
      line(readerWith(), { user: 'u', item: 'i', value: hostile }),
    ]) {
      expect(shown).toMatch(/^[ -~]+$/);
    }
  });

  it('are told by reason, one line each', () => {
    const reader = readerWith();
    const outcomes: [string, string | null][] = [
      ['empty: neither key nor value', null],
      ['not-json: neither JSON nor Avro', '{"user":'],
      ['not-json: not a JSON object', '[1]'],
      ['too-large', `{"user":"${'x'.repeat(70_000)}"}`],
      [
        'bad-value: value must be a number from 0 to 100, not true',
        '{"user":1,"item":2,"value":true}',
      ],
      ['bad-time: time is 2024-05-17T12:06:00.000Z', '{"user":1,"item":2,"ts":1715947560}'],
      ['bad-id: user is a number beyond 2^53', '{"user":12345678901234567890,"item":2}'],
    ];
    for (const [expected, value] of outcomes) {
      expect(line(reader, value)).toContain(`shop/3@17  parked: ${expected}`);
    }
  });

  it('forget a user by a null record with the key of the user', () => {
    expect(line(readerWith(), null, 'ann')).toBe('shop/3@17  user "ann"  forget');
  });
});

describe('the counts', () => {
  it('tell how many would count and how many would be parked, by reason', () => {
    const tally = new TriedTally();
    expect(tally.summary()).toBe('no records');
    const reader = readerWith();
    for (const record of [
      { user: 1, item: 2 },
      { user: 1, item: 2, value: null },
    ]) {
      tally.add(tried(reader, record));
    }
    expect(tally.summary()).toBe('2 of 2 records would count: 1 rate, 1 unrate');
    expect(tally.parked).toBe(0);
    for (const record of ['x', 'y', { user: 1 }]) tally.add(tried(reader, record));
    expect(tally.summary()).toBe(
      '2 of 5 records would count: 1 rate, 1 unrate\n3 would be parked: 2 not-json, 1 bad-id',
    );
    expect(JSON.parse(tally.json())).toEqual({
      records: 5,
      counted: 2,
      parked: 3,
      kinds: { rate: 1, unrate: 1 },
      reasons: { 'not-json': 2, 'bad-id': 1 },
    });
  });

  it('come as JSON beside records as JSON', () => {
    const reader = readerWith();
    expect(JSON.parse(jsonOf(tried(reader, { user: 1, item: 2 })))).toEqual({
      ...{ place: 'shop/3@17', kind: 'rate', user: '1', item: '2', value: 1, time: NOW },
    });
    expect(JSON.parse(jsonOf(tried(reader, '{')))).toEqual({
      ...{ place: 'shop/3@17', kind: 'parked', reason: 'not-json' },
      detail: 'neither JSON nor Avro',
    });
  });
});
