import { describe, expect, it } from 'vitest';
import { ClosingStack } from './closing-stack.ts';

function closable(name: string, closed: string[], failure?: Error) {
  return {
    name,
    close: async () => {
      closed.push(name);
      if (failure) throw failure;
    },
  };
}

describe('a closing stack', () => {
  it('closes what was opened, last first, one at a time', async () => {
    const stack = new ClosingStack();
    const events: string[] = [];
    for (const name of ['kafka', 'store', 'reader']) {
      stack.own({
        close: async () => {
          events.push(`${name} closing`);
          await Promise.resolve();
          events.push(`${name} closed`);
        },
      });
    }
    await stack.close();
    expect(events).toEqual(
      ['reader', 'store', 'kafka'].flatMap((name) => [`${name} closing`, `${name} closed`]),
    );
  });

  it('closes the rest even if some fail, and then tells every failure', async () => {
    const stack = new ClosingStack();
    const closed: string[] = [];
    const failures = [new Error('first'), new Error('third')];
    stack.own(closable('a', closed, failures[0]));
    stack.own(closable('b', closed));
    stack.own(closable('c', closed, failures[1]));
    const closing = stack.close();
    await expect(closing).rejects.toThrow(AggregateError);
    await expect(closing).rejects.toMatchObject({ errors: [failures[1], failures[0]] });
    expect(closed).toEqual(['c', 'b', 'a']);
  });

  it('survives a close that throws before it returns a promise', async () => {
    const stack = new ClosingStack();
    const closed: string[] = [];
    stack.own(closable('a', closed));
    stack.own({
      close: () => {
        throw new Error('at once');
      },
    });
    await expect(stack.close()).rejects.toThrow('unclean shutdown');
    expect(closed).toEqual(['a']);
  });

  it('closes nothing twice', async () => {
    const stack = new ClosingStack();
    const closed: string[] = [];
    stack.own(closable('a', closed));
    await Promise.all([stack.close(), stack.close()]);
    expect(closed).toEqual(['a']);
  });

  it('hands back what it owns', () => {
    const resource = closable('a', []);
    expect(new ClosingStack().own(resource)).toBe(resource);
  });
});
