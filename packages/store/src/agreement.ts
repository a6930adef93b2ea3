/**
 * The settings that all services of a model must share. The manifest never changes: data written
 * under one manifest cannot be read under another. The tuning changes what is learnt from now on.
 * It may change only while no other service runs with the former values: services with different
 * values would learn against each other.
 */
import { createHash } from 'node:crypto';
import { Fault, ServerAway } from '@freshet/telemetry';
import type { AcceptedLoss } from './factor-store.ts';

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
  /** The epoch at which to begin a model that the store does not hold; absent: do not begin it. */
  readonly born?: number;
}

export interface Birth {
  /** The epoch at which the model began: what was sent in an earlier life does not count. */
  readonly born: number;
  /** The epoch of the last rebuild, since when the sources are read again; 0: there was none. */
  readonly rebuilt: number;
}

/** Everything that the store holds of a model beside its shards and the services that run. */
export interface SavedModel extends Agreement, Birth {
  /** By TOPIC/PARTITION: the last loss that a person has accepted. */
  readonly losses: Readonly<Record<string, AcceptedLoss>>;
}

export type Agreed =
  | (Birth & {
      readonly kind: 'agreed';
      /** The tuning that this call replaced. */
      readonly former: Tuning | null;
    })
  | { readonly kind: 'absent' }
  /** This many other services run with another tuning. */
  | { readonly kind: 'tuned'; readonly tuning: Tuning; readonly others: number };

/** How long a service counts as running after its last sign of life. */
export const SIGN_OF_LIFE_MS = 6_000;

/** The store holds the model with another manifest. */
export class ManifestMismatch extends Fault {
  readonly verdict = 'stop';
}

/** A snapshot is being restored, or was restored in part: services wait until it is whole. */
export class ModelRestoring extends ServerAway {
  constructor(model: string) {
    super(
      `model "${model}" is being restored from a snapshot: services wait until that is over. ` +
        'If `freshet restore` was interrupted, run it again',
    );
  }
}

const UNITS: Record<keyof Manifest, string> = {
  format: 'the store format of this version',
  factorCount: 'FACTOR_COUNT',
  loss: 'LOSS',
  ratingMax: 'RATING_MAX',
  shards: 'SHARDS',
};

/** Throws with every difference at once, by the name of the setting, and what to do. */
export function checkManifest(stored: Partial<Manifest>, wanted: Manifest, model: string): void {
  const names = Object.keys(UNITS) as (keyof Manifest)[];
  const differences = names
    .filter((name) => stored[name] !== wanted[name])
    .map((name) => `${UNITS[name]} is ${wanted[name]}, the store has ${stored[name]}`);
  if (differences.length === 0) return;
  const isOld = stored.format !== wanted.format;
  throw new ManifestMismatch(
    isOld
      ? `model "${model}" has store format ${stored.format}, this version ${wanted.format}: ` +
          '`freshet rebuild` learns it anew from its sources; another MODEL leaves it as it is'
      : `model "${model}" was written with other settings: ${differences.join('; ')}. ` +
          'Set them back, or choose another MODEL to start afresh',
  );
}

/** A hash of the manifest, which a shard keeps to be recognised. */
export function sealOf(manifest: Manifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex').slice(0, 16);
}

export function foreignShard(side: string, shard: number, model: string): ManifestMismatch {
  return new ManifestMismatch(
    `${side} shard ${shard} of model "${model}" was written with other settings. ` +
      'Set them back, or choose another MODEL to start afresh',
  );
}
