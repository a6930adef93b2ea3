/** What a test finds on a machine where Freshet has never run, except that it need not download. */
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stepsTo } from '@freshet/local';
import { kafkaJars } from '../../packages/local/src/provision.ts';

export const MAIN = fileURLToPath(new URL('../../packages/cli/dist/main.js', import.meta.url));

/** A cache folder (XDG_CACHE_HOME), with a name like those of people, with Kafka's jars alone. */
export async function emptyCache(): Promise<string> {
  const cache = mkdtempSync(join(tmpdir(), 'freshet of Zoë '));
  const jars = await kafkaJars(stepsTo(() => {}));
  mkdirSync(join(cache, 'freshet'));
  symlinkSync(jars, join(cache, 'freshet', basename(jars)));
  return cache;
}

/** A folder with an npm that runs `npm start` and `npm run freshet` as they are built. */
export function npmFolder(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh
case "$1 $2" in
  "start "|"start --") command=up; shift ;;
  "run freshet") command=; shift 2 ;;
  *) echo "no test runs npm $*" >&2; exit 64 ;;
esac
[ "$1" = -- ] && shift
exec "${process.execPath}" "${MAIN}" $command "$@"
`;
  writeFileSync(join(bin, 'npm'), script);
  chmodSync(join(bin, 'npm'), 0o755);
  return bin;
}
