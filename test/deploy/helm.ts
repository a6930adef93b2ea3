/** What does the Helm chart make of values? A real helm renders it, into manifests as data. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stepsTo } from '@freshet/local';
import { parseAllDocuments, stringify } from 'yaml';
import { canHave, goProgram } from './go-program.ts';
import type { Manifest } from './manifests.ts';

export const helm = { name: 'helm', source: 'helm.sh/helm/v3/cmd/helm', version: '3.22.0' };
/** If not, the tests of the chart are skipped: Freshet itself needs neither helm nor Go. */
export const hasHelm = canHave(helm);
export const chart = fileURLToPath(new URL('../../deploy/helm/freshet', import.meta.url));

export type Values = Readonly<Record<string, unknown>>;

const run = promisify(execFile);

/** The oldest that the chart promises to work with. */
const KUBERNETES = '1.27.0';

/** Rejects with what helm says about the chart or the values. */
export async function runHelm(args: readonly string[], values: Values = {}): Promise<string> {
  const path = await goProgram(
    helm,
    stepsTo((text) => void process.stderr.write(text)),
  );
  const folder = mkdtempSync(join(tmpdir(), 'freshet-helm-'));
  const file = join(folder, 'values.yaml');
  writeFileSync(file, stringify(values));
  try {
    const { stdout } = await run(path, [...args, '--values', file], { maxBuffer: 16 << 20 });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function rendered(
  values: Values = {},
  release = 'freshet',
  folder = chart,
): Promise<Manifest[]> {
  const text = await runHelm(['template', release, folder, '--kube-version', KUBERNETES], values);
  return parseAllDocuments(text)
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS() as Manifest | null;
    })
    .filter((manifest) => manifest !== null);
}
