/** Compiles assembly/ to dist/kernels.wasm with asc if the sources have changed. */

import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const sources = join(here, 'assembly');
const target = join(here, 'dist', 'kernels.wasm');
const stamp = `${target}.sha256`;

const flags = [
  '--optimizeLevel=3',
  '--shrinkLevel=0',
  '--noAssert',
  '--runtime=stub',
  '--enable=simd',
  '--importMemory',
  '--initialMemory=1',
  '--maximumMemory=65536',
];

function digest() {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)));
  for (const name of readdirSync(sources).sort()) {
    hash.update(name).update(readFileSync(join(sources, name)));
  }
  return hash.digest('hex');
}

const wanted = digest();
const isCurrent = existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;

if (!isCurrent) {
  const { main } = await import('assemblyscript/asc');
  mkdirSync(join(here, 'dist'), { recursive: true });
  // Write to a temporary file and rename it: another process may be reading the old one.
  const draft = `${target}.${process.pid}`;
  const { error, stderr } = await main([
    'index.ts',
    ...flags,
    '--baseDir',
    sources,
    '--outFile',
    draft,
  ]);
  if (error) {
    process.stderr.write(stderr.toString());
    throw error;
  }
  renameSync(draft, target);
  writeFileSync(stamp, wanted);
}
