/** Makes the archive of Kafka's classes with which each file of tests starts its Kafka faster. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, type stepsTo } from '@freshet/local';
import { classArchive, quickJava } from '../packages/local/src/java.ts';
import { startKafka } from '../packages/local/src/kafka-server.ts';

const run = promisify(execFile);

/** Java writes the archive when Kafka ends; a busy machine takes long for it. */
const WRITE_LIMIT_MS = 120_000;

/** Does nothing if there is an archive that Java accepts: one of this Java and of these jars. */
export async function archiveKafkaClasses(
  jars: string,
  steps: ReturnType<typeof stepsTo>,
): Promise<void> {
  if (await hasArchive(jars)) return;
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
