/** `npm run bench -- NAME`: prints one line for each figure, `name value unit`, with its baseline from the same run. */
export type Figure = (name: string, value: number, unit: string) => void;

interface Bench {
  bench(figure: Figure, args: readonly string[]): Promise<void>;
}

const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  'half-step': () => import('./half-step.ts'),
  update: () => import('./update.ts'),
  pipeline: () => import('./pipeline.ts'),
  updaters: () => import('./updaters.ts'),
  million: () => import('./million.ts'),
  scale: () => import('./scale.ts'),
  latency: () => import('./latency.ts'),
  score: () => import('./score.ts'),
  next: () => import('./next.ts'),
  http: () => import('./http.ts'),
  hostile: () => import('./http-hostile.ts'),
  after: () => import('./after.ts'),
  quality: () => import('./quality.ts'),
};

const [name = '', ...args] = process.argv.slice(2);
const load = benches[name];
if (load === undefined) {
  process.stderr.write(`npm run bench -- NAME: one of ${Object.keys(benches).join(', ')}\n`);
  process.exitCode = 2;
} else {
  await (await load()).bench((figure, value, unit) => {
    process.stdout.write(`${figure} ${Number(value.toPrecision(4))} ${unit}\n`);
  }, args);
}
