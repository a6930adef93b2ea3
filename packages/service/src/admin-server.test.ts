import { connect } from 'node:net';
import { exposeMetrics, metrics } from '@freshet/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminServer } from './admin-server.ts';
import { listening } from './listening.ts';

let reason: string | null = null;
let server: AdminServer;
const address = {
  host: '127.0.0.1',
  port: 0,
  setting: 'UPDATER_ADMIN_PORT',
  hostSetting: 'ADMIN_HOST',
  // Stands for the rule of packages/config, which this package may not import.
  answersTo: (headers: readonly string[]) => !headers.includes('rebound.example'),
};

beforeAll(async () => {
  exposeMetrics('updater');
  const routes = { '/state': () => ({ parts: 4 }), '/later': () => null };
  server = await AdminServer.open(address, { waitingFor: () => reason, routes });
});
afterAll(() => server.close());

const get = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);

const healthy = { waitingFor: () => null };

/** Sends the request head as it is: with fetch a test cannot choose Host. */
async function raw(head: string): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
  socket.write(`${head}Connection: close\r\n\r\n`);
  let answer = '';
  for await (const piece of socket) answer += piece;
  return answer;
}

describe('the admin port', () => {
  it('/livez is 200 for as long as the process answers, ready or not', async () => {
    reason = 'the grams of the aggregator';
    expect((await get('/livez')).status).toBe(200);
  });

  it('/readyz is 503 and says what it waits for, then 200', async () => {
    reason = 'the grams of the aggregator';
    const waiting = await get('/readyz');
    expect([waiting.status, await waiting.text()]).toEqual([503, `${reason}\n`]);
    reason = null;
    const ready = await get('/readyz?verbose');
    expect([ready.status, await ready.text()]).toEqual([200, 'ready\n']);
  });

  it('/metrics has our metrics and those of Node, as Prometheus reads them', async () => {
    metrics.applied.reset();
    metrics.applied.inc({ side: 'user' }, 3);
    const response = await get('/metrics');
    expect(response.headers.get('content-type')).toContain('text/plain');
    const text = await response.text();
    expect(text).toContain('freshet_ratings_applied_total{side="user"} 3');
    expect(text).toContain('process_cpu_seconds_total');
    expect(text).toMatch(/freshet_build_info\{service="updater",version="[^"]+",node="v[^"]+"\} 1/);
    expect(text).toContain('freshet_ready 1');
  });

  it('answers the further paths of a service as JSON, and 503 while there is nothing', async () => {
    const state = await get('/state');
    expect([state.status, await state.json()]).toEqual([200, { parts: 4 }]);
    expect((await get('/later')).status).toBe(503);
  });

  it('anything else is 404, and says what there is', async () => {
    for (const path of ['/', '/metrics/', '/../etc/passwd', '/livez/x', '/%00']) {
      const response = await get(path);
      expect(response.status, path).toBe(404);
      expect(await response.text()).toContain('/readyz');
    }
  });

  it('answers no request that asks for a stranger’s name, and says so', async () => {
    for (const path of ['/metrics', '/livez', '/state', '/nothing']) {
      const answer = await raw(`GET ${path} HTTP/1.1\r\nHost: rebound.example\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 421 /);
      expect(answer).toContain('content-type: text/plain');
      expect(answer).toContain('ADMIN_HOST');
      expect(answer).not.toContain('freshet_');
    }
  });

  it('leaves a request without Host to the same rule, instead of an empty 400 of Node', async () => {
    expect(await raw('GET /livez HTTP/1.1\r\n')).not.toMatch(/^HTTP\/1\.1 400 /);
  });

  it('that is taken is told by the setting that chose it', async () => {
    const taken = AdminServer.open({ ...address, port: server.port }, healthy);
    await expect(taken).rejects.toThrow(
      `127.0.0.1:${server.port} is in use: stop what uses it, or set UPDATER_ADMIN_PORT`,
    );
  });

  it('whose host is not of this machine is told by the setting that chose it', async () => {
    const elsewhere = { ...address, host: '192.0.2.1' };
    await expect(AdminServer.open(elsewhere, healthy)).rejects.toThrow(
      '192.0.2.1 is not an address of this machine: correct ADMIN_HOST',
    );
  });

  it('keeps errors that are not about the port as they are', async () => {
    const bug = new TypeError('a bug');
    await expect(listening(address, () => Promise.reject(bug))).rejects.toBe(bug);
  });
});
