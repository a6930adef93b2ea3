import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usualNames } from '../../events/src/rating-fields.ts';
import { type FileRating, fields, guessColumn, UnreadableRatings } from './fields.ts';
import { type ReadOptions, readRatingBatches } from './read-ratings.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ratings-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(content: string | Buffer, options: ReadOptions = {}): Promise<FileRating[]> {
  const path = join(folder, 'ratings');
  await writeFile(path, content);
  const ratings: FileRating[] = [];
  for await (const batch of readRatingBatches(path, options)) ratings.push(...batch);
  return ratings;
}

const ann = { user: 'ann', item: 'tea', value: 4.5, time: 978_300_760_000 };
const view = { user: 'ann', item: 'tea', event: 'view' };
const bob = { user: 'bob', item: 'tea', value: 2, time: 978_300_761_000 };

describe('a ratings file', () => {
  it.each([
    ['double colons', 'ann::tea::4.5::978300760\nbob::tea::2::978300761\n'],
    [
      'CSV with a header',
      'userId,movieId,rating,timestamp\r\nann,tea,4.5,978300760\r\nbob,tea,2,978300761\r\n',
    ],
    ['CSV without a header', 'ann,tea,4.5,978300760\nbob,tea,2,978300761'],
    [
      'CSV with its columns in another order',
      'timestamp,asin,user_id,score\n978300760,tea,ann,4.5\n978300761,tea,bob,2\n',
    ],
    [
      'quoted CSV',
      '"user","item","rating","time"\n"ann","tea","4.5","978300760"\nbob,"tea",2,978300761\n',
    ],
    ['TSV', 'ann\ttea\t4.5\t978300760\nbob\ttea\t2\t978300761\n'],
    ['semicolons', 'ann;tea;4.5;978300760\nbob;tea;2;978300761\n'],
    [
      'JSON lines',
      '{"user":"ann","item":"tea","value":4.5,"time":978300760000}\n{"userId":"bob","asin":"tea","overall":2,"unixReviewTime":978300761}\n',
    ],
    [
      'a byte order mark and blank lines',
      '\uFEFFann::tea::4.5::978300760\n\nbob::tea::2::978300761\n\n',
    ],
    ['pipes', 'ann|tea|4.5|978300760\nbob|tea|2|978300761\n'],
    [
      'CSV of a spreadsheet whose decimal point is a comma',
      'User;Item;Rating;Date\r\nann;tea;4,5;31.12.2000 22:12:40\r\nbob;tea;2;31.12.2000 22:12:41\r\n',
    ],
    [
      'CSV with separators, quotes and line ends in its cells',
      'review,user,item,rating,time\n"I said ""so"",\n\nand so",ann,tea,4.5,978300760\n5" pot,bob,tea,2,978300761\n',
    ],
    [
      'semicolons, though a cell has a comma',
      'ann;tea;4.5;978300760;"hot, black"\nbob;tea;2;978300761;cold\n',
    ],
    [
      'CSV for Excel, whose first line tells the separator',
      'sep=;\r\nuser;item;rating;time\r\nann;tea;4,5;978300760\r\nbob;tea;2;978300761\r\n',
    ],
    [
      'lines that end with a carriage return alone',
      'user,item,rating,time\rann,tea,4.5,978300760\rbob,tea,2,978300761\r',
    ],
    [
      'nested JSON with times in µs',
      '{"user":{"id":1},"user_id":"ann","item":"tea","value":4.5,"time":978300760000000}\n{"user_id":"bob","item":"tea","value":2,"time":"2000-12-31T22:12:41+00:00"}\n',
    ],
    [
      'ISO times',
      'user,item,rating,date\nann,tea,4.5,2000-12-31T22:12:40Z\nbob,tea,2,2000-12-31T22:12:41Z\n',
    ],
  ])('is read as %s', async (_name, content) => {
    expect(await read(content)).toEqual([ann, bob]);
  });

  it('is read as review blocks, the last one without a blank line after it', async () => {
    const block = (user: string, score: string, time: number) =>
      [
        'product/productId: tea',
        `review/userId: ${user}`,
        'review/profileName: Someone: "a name"',
        'review/helpfulness: 1/1',
        `review/score: ${score}`,
        `review/time: ${time}`,
        'review/summary: fine',
        'review/text: long: with a colon',
        'and a second line',
      ].join('\n');
    const content = `${block('ann', '4.5', 978300760)}\n\n${block('bob', '2.0', 978300761)}`;
    expect(await read(content)).toEqual([ann, bob]);
  });

  it('is unpacked if its first bytes say gzip, whatever its name', async () => {
    expect(await read(gzipSync('ann::tea::4.5::978300760\nbob::tea::2::978300761\n'))).toEqual([
      ann,
      bob,
    ]);
  });

  it('fails when its gzip is cut short, instead of giving the first part', async () => {
    const packed = gzipSync('ann::tea::4.5::978300760\n'.repeat(1_000));
    await expect(read(packed.subarray(0, packed.length - 20))).rejects.toThrow(UnreadableRatings);
  });

  it('is read with the columns one names, by name or by number', async () => {
    const columns = { user: 'who', item: 'what', value: 'stars' };
    expect(await read('stars,who,what\n4.5,ann,tea\n', { columns })).toEqual([
      { ...ann, time: undefined },
    ]);
    const numbers = { user: '2', item: '1', value: '3', time: '4' };
    expect(await read('tea,ann,4.5,978300760\n', { columns: numbers })).toEqual([ann]);
  });

  it('is read with a path into its objects, and without the columns that it is said not to have', async () => {
    const nested = '{"customer":{"id":"ann"},"product":{"sku":"tea"},"value":7,"ts":978300760}\n';
    const columns = { user: 'customer.id', item: 'product.sku', value: 'none' };
    expect(await read(nested, { columns })).toEqual([{ ...ann, value: 1 }]);
    const row = 'ann,tea,907,pv,978300760\n';
    const numbers = { user: '1', item: '2', value: 'none', time: '5' };
    expect(await read(row, { columns: numbers })).toEqual([{ ...ann, value: 1 }]);
  });

  it('may have spaces around the names of its columns', async () => {
    const columns = { user: 'Who', item: 'What', value: 'Stars' };
    const content = 'When; Who; What; Stars\n1; ann; tea; 4,5\n';
    expect(await read(content, { columns })).toEqual([{ ...ann, time: undefined }]);
  });

  it.each(['', 'NULL', '\\N', 'NaN', 'None', '<NA>', 'NA', 'undefined'])(
    'has nothing in a cell of "%s", as databases and pandas write it',
    async (nothing) => {
      const reports: string[] = [];
      const onMalformed = (_: number, reason: string) => reports.push(reason);
      const rows = [`ann,tea,1,${nothing}`, `ann,tea,${nothing},1`, `${nothing},tea,1,1`];
      const content = `ann,tea,${nothing},1\n${'ann,tea,1,1\n'.repeat(297)}${rows.join('\n')}\n`;
      expect((await read(content, { onMalformed })).at(-1)?.time).toBeUndefined();
      expect(reports).toEqual(['no value', 'no value', 'no user']);
    },
  );

  it('may have spaces between its columns, if that is said', async () => {
    const content = 'ann tea 4.5 978300760\nbob tea 2 978300761\n';
    expect(await read(content, { format: 'space' })).toEqual([ann, bob]);
    const aligned = ' user  item  rating       time\n  ann   tea     4.5  978300760\n';
    expect(await read(aligned, { format: 'space' })).toEqual([ann]);
    await expect(read(content)).rejects.toThrow('--format space');
  });

  it('has times and no values where its third column has dates, with a header or without', async () => {
    const first = [{ ...ann, value: 1 }];
    expect(await read('ann,tea,2000-12-31 22:12:40\n')).toEqual(first);
    const columns = { user: '1', item: '2', time: '3' };
    expect(await read('ann,tea,978300760\n', { columns })).toEqual(first);
    expect(await read('who,what,when\nann,tea,978300760\n', { columns })).toEqual(first);
  });

  it('has a header of usual names, also if there is no value or time to tell it by', async () => {
    const columns = { user: '1', item: '2', value: 'none', time: 'none' };
    const rating = { user: 'ann', item: 'tea', value: 1, time: undefined };
    expect(await read('user_id,sku,tag\nann,tea,hot\n', { columns })).toEqual([rating]);
    expect(await read('ann,tea,hot\n', { columns })).toEqual([rating]);
  });

  it('has no times where it has no time column, and value 1 where it has no values', async () => {
    expect(await read('ann,tea\nbob,tea\n')).toEqual([
      { user: 'ann', item: 'tea', value: 1, time: undefined },
      { user: 'bob', item: 'tea', value: 1, time: undefined },
    ]);
  });

  it.each([
    [
      'names of rows that its header does not have, as R writes',
      'user\titem\trating\n1\t7\t8\t4\n',
    ],
    ['commas in cells without quotes', 'title,user,item\nBlack, hot,ann,tea\n'],
    ['baskets of any length', 'ann,tea\nbob,tea,pot,cup\n'],
  ])('is refused if a line is longer than the first one, with %s', async (_what, content) => {
    await expect(read(content)).rejects.toThrow(/line 2: 4 columns where the first line has/);
    const blank = 'user,item\nann,tea,,\n';
    expect(await read(blank)).toMatchObject([{ user: 'ann', item: 'tea' }]);
  });

  it('tells what it lacks, and how to say more', async () => {
    const lacksOf = async (content: string, options: ReadOptions = {}): Promise<string[]> => {
      const lacks: string[] = [];
      await read(content, { ...options, onLack: (lack) => lacks.push(lack) });
      return lacks;
    };
    expect(await lacksOf('user,item,rating,time\nann,tea,4.5,978300760\n')).toEqual([]);
    const noTimes = 'has no times: its lines are taken to be in order';
    expect(await lacksOf('user,item,liked\nann,tea,yes\n')).toEqual([
      'has no values: every line counts as 1; --columns value=NAME says which column has them',
      noTimes,
    ]);
    const columns = { value: 'none', time: 'none' };
    expect(await lacksOf('user,item,liked\nann,tea,yes\n', { columns })).toEqual([]);
    for (const content of ['user,item,event\nann,tea,view\n', `${JSON.stringify(view)}\n`]) {
      expect(await lacksOf(content)).toEqual([
        'has no values: every line counts as 1; RATING_KINDS=view:1,purchase:5 would give each event its value',
        noTimes,
      ]);
      expect(await lacksOf(content, { kinds: new Map([['view', 1]]) })).toEqual([noTimes]);
    }
  });

  it('that is not there is named in full: npm start looks in another folder than the reader', async () => {
    const reading = readRatingBatches('missing.csv').next();
    await expect(reading).rejects.toThrow(resolve('missing.csv'));
  });

  it('gives nothing when it is empty', async () => {
    expect(await read('')).toEqual([]);
    expect(await read('\n\n')).toEqual([]);
  });

  it('names what is missing when a header lacks it', async () => {
    await expect(read('a,b,c\n1,2,x\n', { columns: { user: 'nobody' } })).rejects.toThrow('nobody');
    await expect(read('apples,pears,plums\n1,2,3\n')).rejects.toThrow('no column for user');
  });

  it('names where the plain values of an object are, when none is a user', async () => {
    const nested = '{"customer":{"id":7},"tags":["a"],"sku":"tea"}\n';
    await expect(read(nested)).rejects.toThrow('no column for user among customer.id, tags.0, sku');
  });

  it.each([
    ['nothing we know', 'hello\n', 'cannot tell the format'],
    ['an object of many lines', '{\n"user":"ann","item":"tea"\n}\n', 'jq -c'],
    [
      'an object where a time should be',
      '{"user":"ann","item":"tea","time":{"$date":"2024-05-17T12:00:00Z"}}\n',
      'not a time: {"\\$date":.* name a field in it',
    ],
    ['a dictionary of Python', "{'user':'ann','item':'tea'}\n", 'not JSON: .* at position 1'],
    ['votes', 'user,item,rating\nann,tea,-1\n', 'kind=NAME with RATING_KINDS=-1:0,1:5'],
    ['a JSON array', '[{"user":"ann","item":"tea"}]\n', 'each of its objects on a line of its own'],
    [
      'a date that may begin with the day or the month',
      'user,item,rating,date\nann,tea,4,3/4/2024\n',
      'the date 3/4/2024 .* --dates day-first',
    ],
  ])('is refused when it begins with %s', async (_what, content, reason) => {
    await expect(read(content)).rejects.toThrow(new RegExp(reason));
  });

  it.each([
    ['a spreadsheet', Buffer.from('PK\u0003\u0004\u0014\0\u0006\0,,,\n')],
    ['UTF-16', Buffer.from('user,item,rating\nann,tea,4\n', 'utf16le')],
    ['bzip2', Buffer.from('BZh91AY&SY,user,item,rating\n')],
    ['zstd', Buffer.from('(\xb5/\xfd$\x11,user,item,rating\nann,tea,4\n', 'latin1')],
    ['lz4', Buffer.from('\x04"M\x18d@\xa7,user,item,rating\nann,tea,4\n', 'latin1')],
    ['made by compress', Buffer.from('\x1f\x9d\x90,user,item,rating\nann,tea,4\n', 'latin1')],
  ])('is refused when it is %s, with what to do', async (_name, content) => {
    await expect(read(content)).rejects.toThrow('save it as CSV in UTF-8');
  });

  it('has columns that are found by the names that the records of a topic usually have', () => {
    const unknown = fields.flatMap((field) =>
      usualNames[field].filter((name) => guessColumn(field, ['other', name]) !== name),
    );
    expect(unknown).toEqual([]);
  });

  it('reports progress up to its last byte', async () => {
    const seen: number[] = [];
    const content = 'ann::tea::4.5::978300760\n';
    await read(content, {
      onProgress: (share) => seen.push(share ?? Number.NaN),
    });
    expect(seen.at(-1)).toBe(1);
  });
});

describe('with RATING_KINDS an event of a file', () => {
  const kinds = new Map([
    ['view', 1],
    ['transaction', 5],
    ['refund', null],
  ]);
  const event = { user: 'ann', item: 'tea', time: undefined };
  const [viewed, bought, refunded] = [1, 5, null].map((value) => ({ ...event, value }));

  it('is worth what its kind says, in a column of a usual name or of one that is said', async () => {
    const rows = ['ann,view,tea', 'ann,transaction,tea', 'ann,refund,tea'];
    for (const name of ['event', 'action', 'event_type', 'event_name']) {
      const content = `user,${name},item\n${rows.join('\n')}\n`;
      expect(await read(content, { kinds })).toEqual([viewed, bought, refunded]);
    }
    const columns = { user: '1', item: '3', kind: '2' };
    expect(await read(rows.join('\n'), { kinds, columns })).toEqual([viewed, bought, refunded]);
    const lines = rows.map((_, at) => ({ ...view, event: [...kinds.keys()][at] }));
    const json = lines.map((line) => JSON.stringify(line)).join('\n');
    expect(await read(json, { kinds })).toEqual([viewed, bought, refunded]);
  });

  it('has its own value where it has one, and counts as without kinds where it has no kind', async () => {
    const content = 'user,item,event,value\nann,tea,view,\nann,tea,view,3\nann,tea,,2\n';
    const values = (await read(content, { kinds })).map(({ value }) => value);
    expect(values).toEqual([1, 3, 2]);
  });

  it('of an unknown kind is no rating, and a column of kinds needs them', async () => {
    const content = 'user,item,event\nann,tea,share\n';
    await expect(read(content, { kinds })).rejects.toThrow('"share" is not one of RATING_KINDS');
    await expect(read(content, { columns: { kind: 'event' } })).rejects.toThrow('set RATING_KINDS');
  });
});

describe('a malformed line', () => {
  const good = 'ann::tea::4.5::978300760\n';

  it.each([
    ['ann::tea', '2 columns'],
    ['::tea::3::978300760', 'no user'],
    ['ann::::3::978300760', 'no item'],
    ['ann::tea::many::978300760', 'value is not a number'],
    ['ann::tea::1e999::978300760', 'value is not a number'],
    ['ann::tea::-1::978300760', 'below 0'],
    ['ann::tea::3::yesterday', 'time is not a time'],
    ['ann::5.01235E+12::3::978300760', 'the item was rounded by a spreadsheet'],
    [`${'x'.repeat(257)}::tea::3::1`, 'longer than 256 bytes'],
    ['M\uFFFDller::tea::3::1', 'the user is not UTF-8'],
    ['ann::tea::3::-1', 'time is not a time'],
  ])('is reported with its number and skipped: %s', async (line, reason) => {
    const reports: [number, string][] = [];
    const content = `${good.repeat(60)}${line}\n${good.repeat(140)}`;
    const ratings = await read(content, { onMalformed: (at, why) => reports.push([at, why]) });
    expect(ratings).toHaveLength(200);
    expect(reports).toEqual([[61, expect.stringContaining(reason)]]);
  });

  it('that begins a quote and never ends it costs no other line', async () => {
    const reports: [number, string][] = [];
    const onMalformed = (line: number, reason: string) => reports.push([line, reason]);
    const plain = good.replaceAll('::', ',');
    for (const after of [90, 300]) {
      const content = `${plain.repeat(100)}ann,"5 pots,3\n${plain.repeat(after)}`;
      expect(await read(content, { onMalformed })).toHaveLength(100 + after);
      expect(reports.splice(0)).toEqual([[101, expect.stringContaining('quote')]]);
    }
  });

  it('of JSON has no number for an id that JSON does not carry exactly', async () => {
    const reports: string[] = [];
    const line = (user: string) => `{"user":${user},"item":"tea"}\n`;
    const content = `${line('7').repeat(100)}${line('12345678901234567890')}`;
    await read(content, { onMalformed: (_, reason) => reports.push(reason) });
    expect(reports).toEqual([expect.stringContaining('beyond 2^53')]);
  });

  it('stops the reading when over one in a hundred is, and says where the first one is', async () => {
    const content = `${good.repeat(98)}bad::\n${good}bad::\n`;
    await expect(read(content)).rejects.toThrow(UnreadableRatings);
    await expect(read(content)).rejects.toThrow('line 99');
  });

  it('does not stop it at one in a hundred exactly', async () => {
    expect(await read(`${good.repeat(99)}bad::\n`)).toHaveLength(99);
  });
});
