/** `freshet topics`: creates the topics that are missing, then tells what is in each. */
import { type Topic, type TopicRow, topics as table, topicName } from '@freshet/events';
import type { TopicAdmin } from '@freshet/stream';
import { openBrokers, operate } from './operator-command.ts';

const HELP = `freshet topics [--json]

Creates the topics that this model lacks, with PARTITIONS and KAFKA_REPLICATION, and lists all of them:
the first offset each partition still holds and the offset after its last record.

  --json       one JSON object per topic

KAFKA_BROKERS, MODEL and the other settings of docs/reference.md apply.
Exit code: 0 done, 1 Kafka cannot be used or a topic has another number of partitions.
`;

export interface ListedTopic {
  readonly name: string;
  readonly created: boolean;
  readonly carries: string;
  readonly partitions: readonly { readonly first: number; readonly end: number }[];
}

export function topics(args: readonly string[]): Promise<number> {
  const options = { json: { type: 'boolean', default: false } } as const;
  return operate(
    {
      name: 'topics',
      help: HELP,
      options,
      cannot: 1,
      run: async ({ values }, place) => {
        const { admin } = await openBrokers(place);
        const { settings, model } = place;
        const created = await admin.ensure({
          model,
          partitions: settings.PARTITIONS,
          replication: settings.KAFKA_REPLICATION,
        });
        const listed = await list(admin, model, created);
        process.stdout.write(
          values.json ? listed.map((row) => `${JSON.stringify(row)}\n`).join('') : render(listed),
        );
        return 0;
      },
    },
    args,
  );
}

async function list(
  admin: TopicAdmin,
  model: string,
  created: readonly string[],
): Promise<ListedTopic[]> {
  const listed: ListedTopic[] = [];
  for (const topic of Object.keys(table) as Topic[]) {
    const name = topicName(topic, model);
    const starts = await admin.starts(name);
    const ends = [...(await admin.ends(name))].sort(([a], [b]) => a - b);
    const partitions = ends.map(([partition, end]) => ({ first: starts.get(partition) ?? 0, end }));
    const row: TopicRow = table[topic];
    listed.push({ name, created: created.includes(name), carries: row.carries, partitions });
  }
  return listed;
}

function render(listed: readonly ListedTopic[]): string {
  const lines = listed.map(({ name, created, carries, partitions }) => {
    const records = partitions.reduce((sum, { first, end }) => sum + end - first, 0);
    const ranges = partitions.map(({ first, end }) => `${first}–${end}`).join(' ');
    return [name, `${records} records`, `${partitions.length} × ${carries}`, ranges, created];
  });
  const widths = [0, 1, 2].map((at) => Math.max(...lines.map((line) => String(line[at]).length)));
  return lines
    .map((line) => {
      const cells = widths.map((width, at) => String(line[at]).padEnd(width));
      return `${[...cells, line[3]].join('  ')}${line[4] ? '  (created)' : ''}\n`;
    })
    .join('');
}
