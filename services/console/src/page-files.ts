/** The files of the built page, in memory: a rebuild does not change the page that is served. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface PageFile {
  readonly bytes: Buffer;
  readonly type: string;
  /** Its name contains a digest of its content, so a browser may cache it for ever. */
  readonly immutable: boolean;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** By URL path. */
export function pageFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  const options = { recursive: true, encoding: 'utf8' } as const;
  for (const path of existsSync(folder) ? readdirSync(folder, options) : []) {
    const type = contentTypes[extname(path)];
    if (type === undefined) continue;
    const bytes = readFileSync(join(folder, path));
    files.set(`/${path}`, { bytes, type, immutable: path.startsWith('assets/') });
  }
  const index = files.get('/index.html');
  if (index === undefined) {
    throw new Error('the page is not built: run node services/console/build.mjs');
  }
  return files.set('/', index);
}
