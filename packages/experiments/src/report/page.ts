/** A report as one HTML page that loads nothing and runs no script: it opens in ten years, too. */
import { lineChart } from './line-chart.ts';
import { element, escapeHtml } from './markup.ts';
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
  const table = element('table', {}, headLine, element('tbody', {}, ...lines));
  return element('div', { class: 'scroll' }, table);
}

/** A light and a dark set of colours, chosen by the browser; `lines` are those of a chart. */
const light = {
  ink: '#1b2733',
  soft: '#5b6b7b',
  paper: '#fdfdfb',
  rule: '#d9dfe5',
  lines: ['#0b6fb8', '#c2410c', '#15803d', '#7e22ce', '#b45309', '#be185d'],
};

const dark: typeof light = {
  ink: '#e6ebf0',
  soft: '#9fb0c0',
  paper: '#14191f',
  rule: '#313b46',
  lines: ['#5cb3f5', '#fb923c', '#4ade80', '#c084fc', '#facc15', '#f472b6'],
};

function variables({ lines, ...named }: typeof light): string {
  const names = Object.entries(named).map(([name, colour]) => `--${name}: ${colour};`);
  return [...names, ...lines.map((colour, c) => `--c${c}: ${colour};`)].join(' ');
}

const seriesRules = light.lines.map(
  (_, c) =>
    `.line.c${c}, .hollow.c${c} { stroke: var(--c${c}); }\n.dot.c${c} { fill: var(--c${c}); }`,
);

const pageStyle = `
:root { color-scheme: light dark; ${variables(light)} }
@media (prefers-color-scheme: dark) { :root { ${variables(dark)} } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.2rem; margin-top: 2.5rem; }
p.words, dt, figcaption, .legend { color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }
dd { margin: 0; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--rule); }
th:first-child, td:first-child { text-align: left; }
td { white-space: nowrap; }
td.best { font-weight: 700; }
td.paper { color: var(--soft); }
figure { margin: 1rem 0; display: inline-block; width: min(100%, 29rem); vertical-align: top; }
svg { width: 100%; height: auto; }
.key { margin-right: 1rem; white-space: nowrap; }
.key svg { width: 10px; }
.grid { stroke: var(--rule); }
.tick { font-size: 12px; fill: var(--soft); }
.label { font-size: 13px; fill: var(--ink); }
.line { fill: none; stroke-width: 2; }
.dot { stroke: none; }
.hollow { fill: none; stroke-width: 2; }
${seriesRules.join('\n')}
`;
