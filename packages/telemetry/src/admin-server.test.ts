import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminServer } from './admin-server.ts';
import { exposeMetrics } from './exposition.ts';
import { CannotListen, listening } from './listening.ts';
import { metrics } from './metrics.ts';

let live = true;
let reason: string | null = null;
let server: AdminServer;
const address = { host: '127.0.0.1', port: 0, setting: 'UPDATER_ADMIN_PORT' };

beforeAll(async () => {
  exposeMetrics('updater');
  const routes = { '/state': () => ({ parts: 4 }), '/later': () => null };
  server = await AdminServer.open(address, { live: () => live, waitingFor: () => reason, routes });
});
afterAll(() => server.close());

const get = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);

describe('the admin port', () => {
  it('/livez is 200 until only a restart can help', async () => {
    live = true;
    expect((await get('/livez')).status).toBe(200);
    live = false;
    expect((await get('/livez')).status).toBe(503);
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

  it('that is taken is told by the setting that chose it', async () => {
    const taken = AdminServer.open(
      { ...address, port: server.port },
      {
        live: () => true,
        waitingFor: () => null,
      },
    );
    await expect(taken).rejects.toThrow(CannotListen);
    await expect(taken).rejects.toThrow(
      `127.0.0.1:${server.port} is in use: stop what uses it, or set UPDATER_ADMIN_PORT`,
    );
  });

  it('keeps errors that are not about the port as they are', async () => {
    const bug = new TypeError('a bug');
    await expect(listening(address, () => Promise.reject(bug))).rejects.toBe(bug);
  });
});
