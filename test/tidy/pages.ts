/** What the documents promise: links that lead somewhere, and commands that a test runs. */
import { dirname, join } from 'node:path';
import { syntaxOf } from './syntax.ts';
import { exists, pages, read } from './tree.ts';

/** A page without its code blocks and its code in the middle of a sentence. */
const proseOf = (page: string): string =>
  read(page)
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, '``');

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const headings = read(page)
    .replace(/^```[\s\S]*?^```$/gm, '')
    .matchAll(/^#{1,6} +(.+)$/gm);
  const anchors = [...headings].map(([, heading = '']) => {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = text.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
  return new Set(anchors);
}

/** Links to files that are not there, or to headings that their page does not have. */
export function brokenLinks(): string[] {
  return pages.flatMap((page) =>
    [...proseOf(page).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
      .filter(([, path = '', anchor]) => {
        const target = path === '' ? page : join(dirname(page), path);
        if (!exists(target)) return true;
        return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor);
      })
      .map(([link]) => `${page}: ${link.slice(1)}`),
  );
}

/** Links whose text names a function, class or constant that the file does not declare. */
export function misnamedCode(): string[] {
  return pages.flatMap((page) =>
    [...read(page).matchAll(/\[`([\w.#]+)(?:\(\))?`\]\(([^)#\s]+\.ts)\)/g)]
      .filter(([, name = '', path = '']) => {
        const file = join(dirname(page), path);
        const last = name.split(/[.#]/).at(-1) ?? '';
        return (
          name !== path.split('/').at(-1) && exists(file) && !syntaxOf(file).declared.has(last)
        );
      })
      .map(([link]) => `${page}: ${link}`),
  );
}

interface ShellBlock {
  readonly page: string;
  readonly line: number;
  /** What follows `sh`: docker, kubernetes, long, or nothing. */
  readonly mark: string;
  readonly script: string;
  /** What the page shows as the output of the commands, where the next block has no language. */
  readonly shown: string | undefined;
}

export function shellBlocks(): ShellBlock[] {
  return pages.flatMap((page) => {
    const text = read(page);
    const blocks = [...text.matchAll(/^```(\S*) *(.*)\n([\s\S]*?)^```$/gm)];
    return blocks.flatMap(({ index, 1: language, 2: mark = '', 3: script = '' }, at) => {
      if (!/^(sh|bash|shell|console)$/.test(language ?? '')) return [];
      const next = blocks[at + 1];
      const shown = next?.[1] === '' && next[2] === '' ? next[3] : undefined;
      return [{ page, line: text.slice(0, index).split('\n').length, mark, script, shown }];
    });
  });
}

/** What stands in a sentence and may be a command, with its page. */
export function inlineCode(): { readonly page: string; readonly code: string }[] {
  return pages.flatMap((page) => {
    const sentences = read(page).replace(/^```[\s\S]*?^```$/gm, '');
    return [...sentences.matchAll(/`([^`]+)`/g)].map(([, code = '']) => ({ page, code }));
  });
}

/** The commands of a script, without comments; a line that ends with \ goes on. */
export function commandsOf(script: string): string[] {
  return script
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '');
}
