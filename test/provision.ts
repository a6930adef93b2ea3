/**
 * Before any test that needs real servers: Kafka, a schema registry and the programs that the tests
 * use are put in place.
 */
import { stepsTo } from '@freshet/local';
import { kafkaJars, program } from '../packages/local/src/provision.ts';
import { goProgram } from './deploy/go-program.ts';
import { hasHelm, helm } from './deploy/helm.ts';
import { quickenKafka } from './quick-kafka.ts';
import { registryProgram } from './registry/registry-server.ts';

export async function setup(): Promise<void> {
  const steps = stepsTo((text) => void process.stderr.write(text));
  await quickenKafka(await kafkaJars(steps), steps);
  await registryProgram(steps);
  await program('redis-server', 'redis-server', '', steps);
  await program('kcat', 'kcat', '', steps);
  await program('chromium', 'chromium', '', steps);
  if (hasHelm) await goProgram(helm, steps);
  else
    process.stderr.write(
      '  tests of the Helm chart skipped: they need helm, or Go to compile it\n',
    );
}
