import { describe, expect, it } from 'vitest';
import { openLog, plainError } from './log.ts';

/** Like an error of ioredis, which has the refused command as a field, with the password. */
function wrongPassword(): Error {
  const message = 'WRONGPASS invalid username-password pair or user is disabled.';
  return Object.assign(new Error(message), {
    name: 'ReplyError',
    code: 'WRONGPASS',
    command: { name: 'auth', args: ['freshet', 'hunter2'] },
    lastNodeError: { command: { args: ['hunter2'] } },
  });
}

function logged(write: (log: ReturnType<typeof openLog>) => void): string {
  const lines: string[] = [];
  write(openLog('test', 'debug', { write: (line) => void lines.push(line) }));
  return lines.join('');
}

describe('an error in the log', () => {
  it('keeps its type, message, stack and code, and nothing that a client hung on it', () => {
    for (const key of ['err', 'error']) {
      const line = logged((log) => log.debug({ [key]: wrongPassword() }, 'redis connection'));
      expect(line).not.toContain('hunter2');
      expect(JSON.parse(line)[key]).toEqual({
        type: 'ReplyError',
        message: 'WRONGPASS invalid username-password pair or user is disabled.',
        stack: expect.stringContaining('log.test.ts'),
        code: 'WRONGPASS',
      });
    }
    expect(logged((log) => log.error(wrongPassword()))).not.toContain('hunter2');
  });

  it('is told with what caused it, three deep, each reduced in the same way', () => {
    const chain = [1, 2, 3, 4].reduceRight<Error>(
      (cause, nth) => Object.assign(new Error(`level ${nth}`, { cause }), { args: ['hunter2'] }),
      wrongPassword(),
    );
    const line = logged((log) => log.warn({ err: chain }, 'x'));
    expect(line).not.toContain('hunter2');
    const { err } = JSON.parse(line);
    expect(err.cause.cause.cause.message).toBe('level 4');
    expect(err.cause.cause.cause).not.toHaveProperty('cause');
    const circle = new Error('circle');
    circle.cause = circle;
    expect(logged((log) => log.warn({ err: circle }, 'x'))).toContain('circle');
  });

  it('that stands for several tells each of them', () => {
    const both = new AggregateError([wrongPassword(), new Error('port')], 'unclean shutdown');
    const line = logged((log) => log.error({ err: both }, 'x'));
    expect(line).not.toContain('hunter2');
    expect(JSON.parse(line).err.errors).toMatchObject([
      { type: 'ReplyError' },
      { message: 'port' },
    ]);
  });

  it('shows no password of a URL: not in message or stack, nor in the text of the line', () => {
    const url = 'rediss://freshet:hunter2@redis.example:6379/0';
    const error = new Error(`cannot use ${url}`, { cause: `redis://:p@hunter2@h and ${url}` });
    const line = logged((log) => log.fatal({ err: error, url }, error.message));
    expect(line).not.toContain('hunter2');
    expect(line).not.toContain('freshet:');
    const { err, msg } = JSON.parse(line);
    expect(msg).toBe('cannot use rediss://***@redis.example:6379/0');
    expect(err.message).toBe(msg);
    expect(err.stack).toContain(msg);
  });

  it('leaves everything else as it is', () => {
    const told = { url: 'http://127.0.0.1:8080', mail: 'a@b', error: 'Connection timeout' };
    expect(JSON.parse(logged((log) => log.info(told, 'see http://h/x@y')))).toMatchObject({
      ...told,
      msg: 'see http://h/x@y',
    });
  });

  it('may be reduced before it comes to the log, and is then not reduced to nothing', () => {
    const error = plainError(wrongPassword());
    expect(JSON.parse(logged((log) => log.warn({ error }, 'x'))).error).toEqual(error);
  });
});

it('whatever else is thrown can be told as an error', () => {
  expect(plainError('redis://u:hunter2@h')).toMatchObject({ message: 'redis://***@h' });
  expect(plainError(undefined)).toMatchObject({ type: 'undefined', message: 'undefined' });
  expect(plainError(Object.create(null)).type).toBe('Error');
});
