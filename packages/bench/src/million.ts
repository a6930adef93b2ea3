/**
 * What does it take to learn a million ratings from nothing? Runs `freshet import` with all
 * services up until nothing is left to apply, then `freshet audit`. Tells time and memory, whether
 * a rating costs more when more are known, and whether the model ranks as well as the same model
 * offline, where no update is late. Takes about three minutes.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { ShardSums } from '@freshet/model';
import type { BenchOptions, Figure } from './main.ts';
import { median } from './measuring.ts';
import { benchRatings } from './pipeline/backlog.ts';
import { BenchSystem } from './pipeline/bench-system.ts';
import { GrowingCost } from './pipeline/growing-cost.ts';
import { LiveQuality } from './pipeline/live-quality.ts';
import { redisBytes } from './pipeline/own-redis.ts';

const RATINGS = 1_000_000;
const LIMIT_MS = 600_000;
const LOOK_MS = 250;

export async function bench(figure: Figure, { argument }: BenchOptions): Promise<void> {
  await BenchSystem.use(async (system) => {
    const file = argument ?? (await writeRatings(join(system.local.folder, 'ratings.csv')));
    await system.local.startServices();
    const began = performance.now();
    const cost = new GrowingCost();
    const quality = new LiveQuality(system);
    const leads: number[] = [];
    let isSent = false;
    const sending = system.freshet('import', file, '--by-time', '--quiet').then((code) => {
      isSent = true;
      if (code !== 0) throw new Error(`freshet import ended with ${code}`);
      figure('million_import_seconds', (performance.now() - began) / 1_000, 's');
    });
    let lag = Number.POSITIVE_INFINITY;
    while (!isSent || lag > 0) {
      if (performance.now() - began > LIMIT_MS) throw new Error(`still ${lag} behind`);
      const { user, item } = await system.applied();
      const known = Math.min(user, item);
      cost.look(known, await system.ofUpdater('process_cpu_seconds_total'));
      await quality.look();
      leads.push(user - item);
      const now = await system.lag();
      lag = now.intake + now.user + now.item;
      await pause(LOOK_MS);
    }
    await sending;
    figure('million_seconds', (performance.now() - began) / 1_000, 's until nothing is left');
    const { user, item } = await system.applied();
    figure('million_applied', Math.min(user, item), 'ratings, on both sides');
    figure('million_lead', median(leads), 'ratings that users are ahead of items, median');
    const resident = await system.ofUpdater('process_resident_memory_bytes');
    figure('million_updater_mb', resident / 1e6, 'MB');
    figure('million_audit', await system.freshet('audit', '--quiet'), 'exit code, 0 is clean');
    await tellStore(figure, system, Math.min(user, item));
    for (const { known, microseconds } of cost.figures()) {
      figure(`cost_us_at_${known}`, microseconds, 'CPU µs of the updater a rating');
    }
    await quality.tell(figure, file);
  });
}

/** Tells the bytes in Redis of a rating, of an item's evidence, of a vector over its factors. */
async function tellStore(figure: Figure, system: BenchSystem, ratings: number): Promise<void> {
  const { FACTOR_COUNT } = system.settings;
  const url = system.local.redisUrl;
  const rows = await redisBytes(url, 'default:{u:*}:body:*');
  figure('redis_bytes_per_rating', rows / ratings, 'bytes of the rows of users');
  const counts = { user: 0, item: 0 };
  for (const id of system.shards) {
    const { sums } = await system.session.store.inspect(id);
    if (sums === null) continue;
    counts[id.side] += ShardSums.fromBytes(id.side, sums, FACTOR_COUNT).gram.count;
  }
  const evidence = await redisBytes(url, 'default:{i:*}:body:*');
  figure('redis_evidence_bytes', evidence / counts.item, 'bytes of an item beside its vector');
  const vectors = counts.user + counts.item;
  const held = await redisBytes(url, 'default:{*}:vectors');
  figure('redis_vector_ratio', held / (vectors * FACTOR_COUNT * 4), 'of the raw bytes');
}

async function writeRatings(path: string): Promise<string> {
  const file = createWriteStream(path);
  file.write('user,item,rating,timestamp\n');
  let lines: string[] = [];
  for (const { user, item, value, time } of benchRatings(RATINGS)) {
    lines.push(`${user},${item},${value},${Math.floor(time / 1_000)}\n`);
    if (lines.length < 20_000) continue;
    file.write(lines.join(''));
    lines = [];
  }
  file.end(lines.join(''));
  await finished(file);
  return path;
}
