/**
 * What must all services of a model have in common? The manifest can never change: data written under
 * one cannot be read under another. The tuning changes what is learnt from now on: it may change, but
 * only when nobody runs with the former values, or services would pull at each other.
 */
import { createHash } from 'node:crypto';
import { Fault } from '@freshet/telemetry';

export interface Manifest {
  readonly format: number;
  readonly factorCount: number;
  readonly loss: string;
  readonly ratingMax: number;
  readonly shards: number;
}

/** By the name of the setting. */
export type Tuning = Readonly<Record<string, number | boolean | string>>;

export interface Agreement {
  readonly manifest: Manifest;
  readonly tuning: Tuning;
}

export interface Member {
  readonly id: string;
  /** Where to begin a model of which the store holds nothing; absent: not to begin it. */
  readonly born?: number;
}

export interface Birth {
  /** The epoch after which the model began. */
  readonly born: number;
  /** The same of the last rebuild: what was read from the sources before is void; 0: there was none. */
  readonly rebuilt: number;
}

export type Agreed =
  | (Birth & {
      readonly kind: 'agreed';
      /** The tuning that this call replaced. */
      readonly former: Tuning | null;
    })
  | { readonly kind: 'absent' }
  /** So many others run with another tuning. */
  | { readonly kind: 'tuned'; readonly tuning: Tuning; readonly others: number };

/** How long a sign of life counts: services that were killed stand in nobody's way for longer. */
export const SIGN_OF_LIFE_MS = 6_000;

/** The store holds a model with other settings. */
export class ManifestMismatch extends Fault {
  override readonly name = 'ManifestMismatch';
  readonly verdict = 'stop';
}

const UNITS: Record<keyof Manifest, string> = {
  format: 'the store format of this version',
  factorCount: 'FACTOR_COUNT',
  loss: 'LOSS',
  ratingMax: 'RATING_MAX',
  shards: 'SHARDS',
};

/** Says every difference at once, by the setting's name, and what to do. */
export function checkManifest(stored: Partial<Manifest>, wanted: Manifest, model: string): void {
  const names = Object.keys(UNITS) as (keyof Manifest)[];
  const differences = names
    .filter((name) => stored[name] !== wanted[name])
    .map((name) => `${UNITS[name]} is ${wanted[name]}, the store has ${stored[name]}`);
  if (differences.length === 0) return;
  const isOld = stored.format !== wanted.format;
  throw new ManifestMismatch(
    isOld
      ? `model "${model}" is there in store format ${stored.format}, and this version has ${wanted.format}: ` +
          '`freshet rebuild` learns it anew from its sources; another MODEL leaves it alone'
      : `model "${model}" was written with other settings: ${differences.join('; ')}. ` +
          'Set them back, or choose another MODEL to start afresh',
  );
}

/** What a shard keeps of the manifest that it was written under. */
export function sealOf(manifest: Manifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex').slice(0, 16);
}

export function foreignShard(side: string, shard: number, model: string): ManifestMismatch {
  return new ManifestMismatch(
    `${side} shard ${shard} of model "${model}" was written with other settings than those of this service. ` +
      'Set them back, or choose another MODEL to start afresh',
  );
}
