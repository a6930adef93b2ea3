/**
 * What does docker-compose.yml say, as data? Anchors and merges are resolved, variables are not.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

interface ComposeService {
  readonly image: string;
  readonly build?: { readonly args: { readonly SERVICE: string } };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart?: string;
  readonly ports?: readonly string[];
  readonly profiles?: readonly string[];
  readonly volumes?: readonly string[];
}

const file = new URL('../../docker-compose.yml', import.meta.url);

export const compose = parse(readFileSync(file, 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
