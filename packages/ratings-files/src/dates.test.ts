import { expect, it } from 'vitest';
import { type DateOrder, FileDates } from './dates.ts';

const time = Date.UTC(2024, 11, 3, 17, 5);
const day = Date.UTC(2024, 11, 3);

function timeOf(text: unknown, order?: DateOrder, lines: readonly string[] = []) {
  return new FileDates(order, lines).timeOf(text);
}

it.each([
  [time / 1_000, time],
  [String(time / 1_000), time],
  [`${time}.0`, time],
  ['1.7332455e9', 1_733_245_500_000],
  ['2024-12-03T17:05:00Z', time],
  ['2024-12-03T18:05:00+01:00', time],
  ['2024-12-03 17:05:00 UTC', time],
  ['2024/12/3 17:05', time],
  ['3.12.2024 17:05', time],
  ['03.12.2024', day],
  ['3.12.24 17:05', time],
  ['31.12.99', Date.UTC(1999, 11, 31)],
  ['03-Dec-24', day],
  ['Dec 3, 2024', day],
  ['3 December 2024 17:05', time],
  ['Tue Dec 03 10:05:00 -0700 2024', time],
])('%s is a time, in UTC', (text, expected) => {
  expect(timeOf(text)).toBe(expected);
});

it.each([
  ['12/3/2024 5:05 PM', 'month-first', time],
  ['12-03-2024 17:05:00', 'month-first', time],
  ['3/12/2024, 05:05:00 p.m.', 'day-first', time],
  ['03-12-2024', 'day-first', day],
  ['12/3/2024 12:00 AM', 'month-first', day],
  ['12/3/24 17:05', 'month-first', time],
] as const)('%s is a time where dates are %s', (text, order, expected) => {
  expect(timeOf(text, order)).toBe(expected);
  const [dayFirst, monthFirst] = text.includes('/24')
    ? ['25/12/24', '12/25/24 10:00']
    : ['25/12/2024', '12-25-2024 10:00'];
  const sample = `ann,tea,${order === 'day-first' ? dayFirst : monthFirst}`;
  expect(timeOf(text, undefined, ['user,item,date', sample])).toBe(expected);
});

it('a number such as 20241203 is a day, unless the first number of the file is none', () => {
  expect([timeOf('20241203'), timeOf(20241203)]).toEqual([day, day]);
  const seconds = new FileDates(undefined, []);
  expect([0, 20241203].map((given) => seconds.timeOf(given))).toEqual([0, 20241203_000]);
  const days = new FileDates(undefined, []);
  expect(['20241203', '20241399'].map((given) => days.timeOf(given))).toEqual([day, undefined]);
});

it.each([
  'yesterday',
  'tea 3',
  '31.2.2024',
  '2024-13-01',
  '1/2/240',
  'Dec-24',
  '25:00',
  'market 2024',
  true,
])('%s is no time', (text) => {
  expect(timeOf(text, 'day-first')).toBeUndefined();
});

it('a date that both orders fit is refused unless lines or a person say which', () => {
  expect(() => timeOf('3/4/2024')).toThrow('--dates');
  expect(() => timeOf('3/4/2024', undefined, ['25/12/2024', '12/25/2024'])).toThrow('--dates');
});
