/** `freshet topics`: creates the topics that are missing, then lists what each holds. */
import { type Topic, type TopicRow, topics as table, topicName } from '@freshet/events';
import { topicPlan } from '@freshet/session';
import { plannedTopics, Refused, type TopicAdmin } from '@freshet/stream';
import { flag, openBrokers, operatorCommand, text, WrongUsage } from './operator-command.ts';
import { type ManifestForm, manifestForms } from './topic-manifests.ts';

const HELP = `freshet topics [--json] [--dry-run] [--as FORM]

Creates the topics of this model that do not exist, with SHARDS partitions and KAFKA_REPLICATION
replicas, and lists all of them, those of RATINGS_TOPICS first: the first offset that each partition
still holds, and the offset after its last record. Of RATINGS_TOPICS it creates only the topic
ratings: the others are yours to create.

  --json       print one JSON object per topic
  --dry-run    create nothing and connect to nothing: print how to create the topics, for clusters
               where Freshet's user may not
  --as FORM    with --dry-run: kafka-topics (commands), terraform or strimzi [kafka-topics]

It uses KAFKA_BROKERS, MODEL and the other settings of freshet reference.
Exit code: 0 done, 1 Kafka cannot be used, a topic has another number of partitions than SHARDS, or
a configuration with which records would be lost: it says which, and what it must be.
`;

export const topics = operatorCommand({
  name: 'topics',
  help: HELP,
  options: { json: flag, 'dry-run': flag, as: text },
  cannot: 1,
  run: async ({ values }, place) => {
    const { settings, model } = place;
    if (values['dry-run']) {
      const form = manifestForms[formOf(values.as ?? 'kafka-topics')];
      const planned = plannedTopics(topicPlan(settings));
      process.stdout.write(`${form(planned, settings.KAFKA_BROKERS.join(','))}\n`);
      return 0;
    }
    if (values.as !== undefined) throw new WrongUsage('--as needs --dry-run');
    const { admin } = await openBrokers(place);
    const created = await admin.ensure(topicPlan(settings));
    const misfits = await admin.misfits(topicPlan(settings)).catch(notCompared);
    const listed = [];
    for (const [name, carries] of namesOf(model, settings.RATINGS_TOPICS)) {
      const row = { name, carries, created: created.includes(name) };
      listed.push({ ...(await listedTopic(admin, row)), misfits: misfits.get(name) ?? [] });
    }
    process.stdout.write(
      values.json ? listed.map((row) => `${JSON.stringify(row)}\n`).join('') : render(listed),
    );
    for (const [name, each] of misfits) {
      for (const misfit of each) process.stderr.write(`freshet topics: ${name} has ${misfit}\n`);
    }
    return listed.some((row) => row.misfits.length > 0) ? 1 : 0;
  },
});

/** Without the right to see configurations, the list is printed all the same. */
function notCompared(error: unknown): Map<string, readonly string[]> {
  if (!(error instanceof Refused)) throw error;
  process.stderr.write(`freshet topics: the topics were not compared: ${error.message}\n`);
  return new Map();
}

function formOf(given: string): ManifestForm {
  if (given in manifestForms) return given as ManifestForm;
  const forms = Object.keys(manifestForms).join(', ');
  throw new WrongUsage(`--as must be one of ${forms}, not "${given}"`);
}

/** The topics that ratings come from, then Freshet's own, with what each carries. */
function namesOf(model: string, sources: readonly string[]): (readonly [string, string])[] {
  const { ratings, ...own } = table;
  const rows = Object.entries(own) as [Topic, TopicRow][];
  return [
    ...sources.map((name) => [name, ratings.carries] as const),
    ...rows.map(([topic, { carries }]) => [topicName(topic, model), carries] as const),
  ];
}

async function listedTopic(
  admin: TopicAdmin,
  { name, carries, created }: { name: string; carries: string; created: boolean },
) {
  const ranges = (await admin.exists(name)) ? [...(await admin.ranges(name))] : [];
  const inOrder = ranges.sort(([a], [b]) => a - b);
  const partitions = inOrder.map(([, { start, end }]) => ({ first: start, end }));
  return { name, created, carries, partitions };
}

function render(listed: readonly Awaited<ReturnType<typeof listedTopic>>[]): string {
  const lines = listed.map(({ name, created, carries, partitions }) => {
    const records = partitions.reduce((sum, { first, end }) => sum + end - first, 0);
    const ranges =
      partitions.map(({ first, end }) => `${first}–${end}`).join(' ') ||
      'does not exist: the updaters wait for it';
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
