/**
 * A report as one self-contained HTML page. It has its style inside, loads nothing and runs no
 * script, so that it can be sent by mail and opened in ten years.
 */
import { lineChart } from './line-chart.ts';
import { element, escapeHtml } from './markup.ts';
import { pageStyle } from './page-style.ts';
import type { Section, Table } from './section.ts';

interface ReportPage {
  readonly title: string;
  /** Pairs of name and value: the data and the options. */
  readonly facts: readonly (readonly [string, string])[];
  readonly sections: readonly Section[];
}

export function renderPage({ title, facts, sections }: ReportPage): string {
  const list = facts.map(
    ([name, value]) => element('dt', {}, escapeHtml(name)) + element('dd', {}, escapeHtml(value)),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${pageStyle}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${element('dl', {}, ...list)}
${sections.map(renderSection).join('\n')}
</body>
</html>
`;
}

function renderSection({ title, words, tables, charts }: Section): string {
  return element(
    'section',
    {},
    element('h2', {}, escapeHtml(title)),
    ...words.map((text) => element('p', { class: 'words' }, escapeHtml(text))),
    ...tables.map(renderTable),
    ...charts.map(lineChart),
  );
}

function renderTable({ head, rows }: Table): string {
  const heads = head.map((name) => element('th', {}, escapeHtml(name)));
  const lines = rows.map((cells) => {
    const tds = cells.map(({ text, kind }) =>
      element('td', kind ? { class: kind } : {}, escapeHtml(text)),
    );
    return element('tr', {}, ...tds);
  });
  const headLine = element('thead', {}, element('tr', {}, ...heads));
  return element(
    'div',
    { class: 'scroll' },
    element('table', {}, headLine, element('tbody', {}, ...lines)),
  );
}
