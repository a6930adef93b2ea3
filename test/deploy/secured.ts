/** What companies have: certificates of their own authority, and a Redis Cluster behind TLS. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClosingStack } from '@freshet/service';
import { eventually } from '@freshet/testkit';
import { freeNodePort } from '../../packages/local/src/ports.ts';
import { startRedis } from '../../packages/local/src/redis-server.ts';

const acls = fileURLToPath(new URL('../../deploy/redis/acls.sh', import.meta.url));

/** NAME.key and NAME.pem in a folder, for an authority and what it signed (name → hosts). */
export function makeCertificates(folder: string, signed: Readonly<Record<string, string>>): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder });
  makeAuthority(folder, 'authority');
  for (const [name, hosts] of Object.entries(signed)) {
    openssl(
      ...['req', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`],
      ...['-keyout', `${name}.key`, '-out', `${name}.csr`],
    );
    writeFileSync(join(folder, 'hosts'), `subjectAltName=${hosts}\n`);
    openssl(
      ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'authority.pem', '-CAkey', 'authority.key'],
      ...['-CAcreateserial', '-days', '2', '-extfile', 'hosts', '-out', `${name}.pem`],
    );
  }
}

export function makeAuthority(folder: string, name: string): void {
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${name}`],
      ...['-keyout', `${name}.key`, '-out', `${name}.pem`],
    ],
    { cwd: folder },
  );
}

/**
 * Three masters that announce themselves by the name `localhost`, which the certificate `node` must
 * have. Returns their ports. Each user of deploy/redis/acls.sh has the password secret-of-USER, and
 * nobody else is let in.
 */
export async function startSecureCluster(
  folder: string,
  model: string,
  stack: ClosingStack,
): Promise<number[]> {
  const file = (name: string) => join(folder, name);
  const ports: number[] = [];
  while (ports.length < 3) {
    const port = await freeNodePort();
    const settings = {
      port: '0',
      'tls-port': String(port),
      'tls-cert-file': file('node.pem'),
      'tls-key-file': file('node.key'),
      'tls-ca-cert-file': file('authority.pem'),
      'tls-auth-clients': 'no',
      'tls-cluster': 'yes',
      'cluster-enabled': 'yes',
      'cluster-announce-ip': '127.0.0.1',
      'cluster-announce-hostname': 'localhost',
      'cluster-preferred-endpoint-type': 'hostname',
    };
    const node = await startRedis({ folder: file(`node-${port}`), port, settings });
    stack.own({ close: () => node.stop() });
    ports.push(port);
  }
  const trusting = ['--tls', '--cacert', file('authority.pem')];
  const ask = (...command: string[]) =>
    execFileSync('redis-cli', [...trusting, ...command], { encoding: 'utf8' });
  const to = (port: number) => ['-p', String(port)];
  const places = ports.map((port) => `127.0.0.1:${port}`);
  ask('--cluster', 'create', ...places, '--cluster-yes');
  await eventually('a whole cluster', async () =>
    ports.every((port) => ask(...to(port), 'cluster', 'info').includes('cluster_state:ok')),
  );
  const PASSWORDS = file('passwords');
  mkdirSync(PASSWORDS);
  for (const user of ['updater', 'aggregator', 'scorer', 'operator']) {
    writeFileSync(join(PASSWORDS, user), `secret-of-${user}`);
  }
  const env = { PATH: process.env.PATH, MODEL: model, PASSWORDS };
  for (const port of ports) {
    execFileSync(acls, [...trusting, ...to(port)], { env });
    ask(...to(port), 'acl', 'setuser', 'default', 'off');
  }
  return ports;
}
