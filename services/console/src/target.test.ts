import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminAddress, readSettings, scorerAddress } from '@freshet/config';
import { AdminServer } from '@freshet/service';
import { describe, expect, it } from 'vitest';
import { pageFiles } from './page-files.ts';
import { targetsOf } from './target.ts';

describe('whom the console watches', () => {
  it('is every service on this machine, unless the settings name others', () => {
    const own = targetsOf(readSettings({ SCORER_ADMIN_PORT: '0' }));
    expect(own).toEqual([
      { service: 'updater', address: '127.0.0.1:9401' },
      { service: 'aggregator', address: '127.0.0.1:9402' },
      { service: 'console', address: '127.0.0.1:9404' },
    ]);
    const CONSOLE_TARGETS = 'updater=a:9401, updater=b:9401,scorer=[::1]:9403';
    expect(targetsOf(readSettings({ CONSOLE_TARGETS }))).toEqual([
      { service: 'updater', address: 'a:9401' },
      { service: 'updater', address: 'b:9401' },
      { service: 'scorer', address: '[::1]:9403' },
    ]);
  });

  it('is refused when it cannot be understood', () => {
    for (const CONSOLE_TARGETS of ['a:9401', 'updater=a', 'updater=a:1,,']) {
      expect(() => readSettings({ CONSOLE_TARGETS }), CONSOLE_TARGETS).toThrow(
        /^CONSOLE_TARGETS must/,
      );
    }
    expect(() => readSettings({ SCORER_URL: 'scorer:8080' })).toThrow(/^SCORER_URL must be http/);
  });

  it('has the scorer on loopback, unless its URL is given', () => {
    const urlOf = (given: Record<string, string>) => scorerAddress(readSettings(given)).url;
    expect(urlOf({ SCORER_PORT: '7' })).toBe('http://127.0.0.1:7');
    expect(urlOf({ SCORER_URL: 'http://s:1/' })).toBe('http://s:1');
  });
});

it('an admin port answers the console by loopback, and no page that gave it another name', async () => {
  const address = adminAddress(readSettings({ CONSOLE_ADMIN_PORT: '0' }), 'CONSOLE_ADMIN_PORT');
  const server = await AdminServer.open(address, { waitingFor: () => null });
  const statusFor = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = { host: '127.0.0.1', port: server.port, path: '/readyz', headers: { host } };
      get(asked, (response) => resolve(response.resume().statusCode)).on('error', reject);
    });
  expect(await statusFor(`127.0.0.1:${server.port}`)).toBe(200);
  expect(await statusFor('localhost:9404')).toBe(200);
  expect(await statusFor('rebound.example:9404')).toBe(421);
  await server.close();
});

describe('the files of the page', () => {
  it('are served by their paths; those with a digest in their name may be kept', () => {
    const folder = mkdtempSync(join(tmpdir(), 'freshet-page-'));
    expect(() => pageFiles(join(folder, 'absent'))).toThrow('the page is not built');
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), '<p>');
    writeFileSync(join(folder, 'assets', 'a.js'), '1');
    writeFileSync(join(folder, 'assets', 'a.js.map'), '{}');
    const files = pageFiles(folder);
    rmSync(folder, { recursive: true });
    expect([...files.keys()].sort()).toEqual(['/', '/assets/a.js', '/index.html']);
    expect(files.get('/assets/a.js')?.immutable).toBe(true);
    expect(files.get('/')?.type).toMatch('text/html');
  });
});
