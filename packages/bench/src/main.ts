/** `npm run bench -- NAME`: prints figures as `name value unit`, with baselines of the same run. */
import { parseArgs } from 'node:util';

export type Figure = (name: string, value: number, unit: string) => void;

const options = {
  ratings: { type: 'string' },
  deviations: { type: 'boolean', default: false },
  large: { type: 'boolean', default: false },
  cold: { type: 'boolean', default: false },
} as const;

type Given = ReturnType<typeof parseArgs<{ options: typeof options; allowPositionals: true }>>;
export type BenchOptions = Given['values'] & { readonly argument: string | undefined };

interface Bench {
  bench(figure: Figure, options: BenchOptions): Promise<void>;
}

const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  'half-step': () => import('./half-step.ts'),
  update: () => import('./update.ts'),
  pipeline: () => import('./pipeline.ts'),
  updaters: () => import('./updaters.ts'),
  million: () => import('./million.ts'),
  scale: () => import('./scale.ts'),
  snapshot: () => import('./snapshot.ts'),
  cost: () => import('./cost.ts'),
  latency: () => import('./latency.ts'),
  score: () => import('./score.ts'),
  next: () => import('./next.ts'),
  http: () => import('./http.ts'),
  hostile: () => import('./http-hostile.ts'),
  after: () => import('./after.ts'),
  quality: () => import('./quality.ts'),
};

const HELP = `npm run bench -- NAME [options]

NAME is one of ${Object.keys(benches).join(', ')}.

  --ratings FILE   update, quality: ratings to learn from, instead of generated ones
  --deviations     update: what each departure from the paper is worth, instead of the speed
  --large          http, next: a catalogue of 100,000 items
  --cold           http: the start of a scorer with a million items, instead of its answers
  FILE             million: the file to import, instead of generated ratings
  COUNT            pipeline: how many ratings the backlog has
  RATE             snapshot: ratings per second, 10,000 if absent
`;

function given(): Given | undefined {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n`);
    return undefined;
  }
}

const { values, positionals: [name = '', argument] = [] } = given() ?? {};
const load = benches[name];
if (values === undefined || load === undefined) {
  process.stderr.write(HELP);
  process.exitCode = 2;
} else {
  const figure: Figure = (label, value, unit) =>
    void process.stdout.write(`${label} ${Number(value.toPrecision(4))} ${unit}\n`);
  await (await load()).bench(figure, { ...values, argument });
}
