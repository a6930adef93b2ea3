/** Can the help of every command be read in a terminal? */
import { describe, expect, it } from 'vitest';
import { helpOf } from './tidy/commands.ts';

describe('the help of each command', () => {
  it('fits into 100 columns', () => {
    const rows = [...helpOf('--help').matchAll(/^ {2}([a-z-]+) /gm)];
    // The reference is a page in Markdown, with a line for each row of its tables.
    const names = rows.map(([, name = '']) => name).filter((name) => name !== 'reference');
    expect(names).toContain('dead-letters');
    expect(names.filter((name) => /^.{101}/m.test(helpOf(name)))).toEqual([]);
  });
});
