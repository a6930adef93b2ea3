/**
 * What does a section look like in a terminal? Words, then tables in columns; charts are for the
 * page.
 */
import type { Section, Table } from './section.ts';

export function renderText(sections: readonly Section[]): string {
  const parts = sections.map(({ title, words, tables }) =>
    [title, ...words, ...tables.map(textTable)].join('\n\n'),
  );
  return `${parts.join('\n\n')}\n`;
}

function textTable({ head, rows }: Table): string {
  const lines = [
    head,
    ...rows.map((cells) => cells.map(({ text, kind }) => (kind === 'best' ? `*${text}` : text))),
  ];
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  );
  const pad = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column]) : text.padStart(widths[column]);
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}
