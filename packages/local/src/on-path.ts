/** Looks for programs in the folders of PATH. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { searchPath } from '@freshet/config';

export function onPath(name: string): boolean {
  return programPath(name) !== undefined;
}

/** The path of a program; undefined if it is not on PATH. */
export function programPath(name: string): string | undefined {
  const places = searchPath().split(delimiter);
  return places.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
