/**
 * Makes what lets each file of tests start its Kafka faster: an archive of Kafka's classes, and an
 * empty data folder to copy.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, type stepsTo } from '@freshet/local';
import { classArchive, formattedFolder, quickJava } from '../packages/local/src/java.ts';
import { startKafka } from '../packages/local/src/kafka-server.ts';

const run = promisify(execFile);

/** Java writes the archive when Kafka ends; a busy machine takes long for it. */
const WRITE_LIMIT_MS = 120_000;
/** All that Kafka's storage tool writes. */
const FORMATTED = ['meta.properties', 'bootstrap.checkpoint'];

/** Does nothing if there is an archive that Java accepts: one of this Java and of these jars. */
export async function quickenKafka(jars: string, steps: ReturnType<typeof stepsTo>): Promise<void> {
  const formatted = formattedFolder(jars);
  if ((await hasArchive(jars)) && existsSync(formatted)) return;
  rmSync(classArchive(jars), { force: true });
  await steps.run('archive of Kafka’s classes', 'first time only: about 10 s', async () => {
    // In a folder of this process alone: tests of two checkouts may make it at the same time.
    const folder = mkdtempSync(`${jars}.partial-`);
    const written = join(folder, 'written.jsa');
    try {
      const [port, controllerPort] = [await freePort(), await freePort()];
      const javaOptions = [`-XX:ArchiveClassesAtExit=${written}`];
      const kafka = await startKafka({ jars, folder, port, controllerPort, javaOptions });
      await kafka.stop(WRITE_LIMIT_MS);
      if (existsSync(written)) renameSync(written, classArchive(jars));
      const copied = join(folder, 'formatted');
      for (const name of FORMATTED) cpSync(join(folder, 'kafka', name), join(copied, name));
      if (!existsSync(formatted)) renameSync(copied, formatted);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

async function hasArchive(jars: string): Promise<boolean> {
  if (!existsSync(classArchive(jars))) return false;
  return run('java', ['-Xshare:on', ...quickJava(jars, classArchive(jars)), '-version']).then(
    () => true,
    () => false,
  );
}
