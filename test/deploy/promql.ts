/**
 * Which series does a PromQL expression name, and by which labels? Not a parser: Prometheus itself
 * checks the grammar. This one only has to tell names of series from everything else.
 */

export interface Selector {
  readonly metric: string;
  /** Of its matchers: label → the value it must equal, or undefined for another kind of match. */
  readonly matchers: ReadonlyMap<string, string | undefined>;
}

interface Named {
  readonly selectors: readonly Selector[];
  /** The labels of every `by`, `on` and the like. */
  readonly grouping: ReadonlySet<string>;
}

const AGGREGATIONS = new Set(['sum', 'max', 'min', 'avg', 'count', 'topk', 'quantile']);
const GROUPINGS = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const OPERATORS = new Set(['and', 'or', 'unless', 'offset', 'bool']);
const TOKEN = /"(?:[^"\\]|\\.)*"|[a-zA-Z_:][\w:]*|\d[\w.]*(?:e-?\d+)?|[=!]~|!=|\S/g;

export function namedIn(expression: string): Named {
  const tokens: string[] = expression.replaceAll(/\[[^\]]*\]/g, '').match(TOKEN) ?? [];
  const selectors: Selector[] = [];
  const grouping = new Set<string>();
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] ?? '';
    if (!/^[a-zA-Z_:]/.test(token) || OPERATORS.has(token) || AGGREGATIONS.has(token)) continue;
    if (GROUPINGS.has(token)) {
      if (tokens[at + 1] !== '(') continue;
      const end = tokens.indexOf(')', at);
      for (const label of tokens.slice(at + 2, end)) if (label !== ',') grouping.add(label);
      at = end;
      continue;
    }
    if (tokens[at + 1] === '(') continue;
    const end = tokens[at + 1] === '{' ? tokens.indexOf('}', at) : at;
    selectors.push({ metric: token, matchers: matchersIn(tokens.slice(at + 2, end)) });
    at = end;
  }
  return { selectors, grouping };
}

function matchersIn(tokens: readonly string[]): Map<string, string | undefined> {
  const matchers = new Map<string, string | undefined>();
  for (let at = 0; at + 2 < tokens.length; at += 4) {
    const [label = '', operator, value = ''] = tokens.slice(at, at + 3);
    matchers.set(label, operator === '=' ? value.slice(1, -1) : undefined);
  }
  return matchers;
}
