/** Makes docs/reference.md from the tables that the code reads; a test keeps it up to date. */
import { settings } from '@freshet/config';
import { type Topic, type TopicRow, topicConfig, topics } from '@freshet/events';
import { metricTable } from '@freshet/telemetry';

const HELP = `freshet reference

Prints all settings, topics and metrics in Markdown, as in docs/reference.md. It takes no options, and
none of the settings of this environment change it.

Exit code: 0 done, 1 it was given an option.
`;

export async function reference(args: readonly string[]): Promise<number> {
  const asksHelp = args.includes('--help');
  if (args.length > 0 && !asksHelp) {
    process.stderr.write(`freshet reference: it takes no "${args[0]}"\n`);
    return 1;
  }
  process.stdout.write(asksHelp ? HELP : referencePage());
  return 0;
}

export function referencePage(): string {
  return `# Reference

Made by \`npm run freshet --silent -- reference > docs/reference.md\` from the tables in the code.

## Settings

Settings are environment variables. A secret may also be given as \`NAME_FILE\`, the path of a file that holds
it. A process that is given a value it cannot use prints every problem, with the values that are allowed, and exits with 2.

${table(['setting', 'default', 'about'], settingRows())}

## Topics

The names of topics of scope *model* begin with \`MODEL\` and a dot. *sharded* topics have \`SHARDS\` partitions,
*single* ones have one; *any* means that whoever creates the topic chooses.

${table(['topic', 'scope', 'carries', 'keyed by', 'partitions', 'retention', 'about'], topicRows())}

## Metrics

The services named show these at \`/metrics\`, with the metrics of Node itself.

${table(['metric', 'kind', 'labels', 'of', 'question'], metricRows())}
`;
}

function settingRows(): string[][] {
  return Object.entries(settings).map(([name, row]) => {
    const secret = 'secret' in row ? ' (secret)' : '';
    const alias = 'alias' in row ? `. Also read from ${code(row.alias)}` : '';
    const about = `${row.about}${alias}${secret}`;
    return [code(name), row.fallback === '' ? '' : code(row.fallback), about];
  });
}

function topicRows(): string[][] {
  return (Object.keys(topics) as Topic[]).map((topic) => {
    const row: TopicRow = topics[topic];
    const { name, scope, carries, keyedBy, partitions, about } = row;
    return [code(name), scope, carries, keyedBy, partitions, retention(topic), about];
  });
}

function retention(topic: Topic): string {
  const days = Number(settings.USER_RATINGS_DAYS.fallback);
  if (topics[topic].retain === 'days') return `\`USER_RATINGS_DAYS\`, ${days} days`;
  const config = topicConfig(topic, days);
  if (config['cleanup.policy'] === 'compact') return 'latest of each key';
  const hours = Number(config['retention.ms']) / 3_600_000;
  if (hours < 0) return 'unlimited';
  const bytes = Number(config['retention.bytes']);
  return `${hours} h${bytes > 0 ? `, ${bytes / (1 << 30)} GB a partition` : ''}`;
}

function metricRows(): string[][] {
  return metricTable.rows.map(({ name, kind, services, labels, help }) => [
    code(name),
    kind,
    Object.keys(labels).join(', '),
    services.join(', '),
    help,
  ]);
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}
