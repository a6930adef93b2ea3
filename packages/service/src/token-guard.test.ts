import { beforeEach, describe, expect, it } from 'vitest';
import { TokenGuard } from './token-guard.ts';

/** A clock that moves only when a test calls `pass`. */
let now: number;
let timers: { at: number; then: () => void }[];
const clock = {
  now: () => now,
  after: (ms: number, then: () => void) => void timers.push({ at: now + ms, then }),
};
function pass(ms: number): void {
  now += ms;
  const due = timers.filter(({ at }) => at <= now);
  timers = timers.filter(({ at }) => at > now);
  for (const { then } of due) then();
}

let guard: TokenGuard;
let answers: string[];
beforeEach(() => {
  now = 0;
  timers = [];
  answers = [];
  guard = new TokenGuard('s3cret', clock);
});

function ask(token: string | undefined, address = 'attacker'): void {
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  guard.check(address, authorization, (refusal) => {
    answers.push(refusal === undefined ? 'admitted' : String(refusal.status));
  });
}
function fail(times: number): void {
  for (let nth = 0; nth < times; nth++) ask('wrong');
  answers = [];
}

describe('the guard of the token', () => {
  it('admits who has it and refuses the others, at once', () => {
    ask('s3cret');
    ask('wrong');
    ask(undefined);
    guard.check('x', 'Basic s3cret', (refusal) => answers.push(String(refusal?.status)));
    expect(answers).toEqual(['admitted', '401', '401', '401']);
    expect(timers).toEqual([]);
  });

  it('says with a 401 which kind of token it wants', () => {
    guard.check('x', undefined, (refusal) => {
      expect(refusal?.headers).toEqual({ 'www-authenticate': 'Bearer' });
    });
  });

  it('looks at the sixth token of an address only after a delay, right or wrong', () => {
    fail(5);
    ask('s3cret');
    pass(99);
    expect(answers).toEqual([]);
    pass(1);
    expect(answers).toEqual(['admitted']);
  });

  it('makes the delay longer with every further wrong token', () => {
    fail(5);
    for (const delay of [100, 200, 400, 800, 1_600, 2_000, 2_000]) {
      answers = [];
      ask('wrong');
      pass(delay - 1);
      expect(answers, String(delay)).toEqual([]);
      pass(1);
      expect(answers, String(delay)).toEqual(['401']);
    }
  });

  it('forgets the failures of an address that has the right token', () => {
    fail(5);
    ask('s3cret');
    pass(100);
    ask('wrong');
    ask('s3cret');
    expect(answers).toEqual(['admitted', '401', 'admitted']);
  });

  it('keeps no other address waiting', () => {
    fail(5);
    ask('s3cret', 'friend');
    ask('wrong', 'stranger');
    expect(answers).toEqual(['admitted', '401']);
  });

  it('lets eight requests of an address wait, and tells the others when to come back', () => {
    fail(5);
    for (let nth = 0; nth < 8; nth++) ask('wrong');
    expect(answers).toEqual([]);
    guard.check('attacker', 'Bearer s3cret', (refusal) => {
      expect(refusal).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    });
    ask('s3cret', 'friend');
    expect(answers).toEqual(['admitted']);
    pass(100);
    expect(answers.slice(1)).toEqual(Array(8).fill('401'));
    answers = [];
    for (let nth = 0; nth < 9; nth++) ask('s3cret');
    expect(answers).toEqual(['429']);
    pass(2_000);
    expect(answers.slice(1)).toEqual(Array(8).fill('admitted'));
  });

  it('does not hold a missing token against anybody: it is no guess', () => {
    for (let nth = 0; nth < 100; nth++) ask(undefined);
    ask('s3cret');
    expect(answers.at(-1)).toBe('admitted');
  });

  it('admits a right token at once, and leaves every other request to the check', () => {
    expect(guard.admits('x', 'Bearer s3cret')).toBe(true);
    expect(guard.admits('x', 'Bearer wrong')).toBe(false);
    expect(guard.admits('x', undefined)).toBe(false);
    fail(4);
    for (let nth = 0; nth < 10; nth++) expect(guard.admits('attacker', 'Bearer wrong')).toBe(false);
    expect(guard.admits('attacker', 'Bearer s3cret')).toBe(true);
    fail(5);
    expect(guard.admits('attacker', 'Bearer s3cret')).toBe(false);
    expect(guard.admits('friend', 'Bearer s3cret')).toBe(true);
  });

  it('cannot be made without a token', () => {
    expect(() => new TokenGuard('', clock)).toThrow(RangeError);
  });
});
