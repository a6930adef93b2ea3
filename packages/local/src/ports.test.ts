import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { accepts, freeNodePort, freePort } from './ports.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function occupy(port: number): Promise<void> {
  const server = createServer();
  servers.push(server);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

describe('a free port', () => {
  it('is the preferred one if nobody has it', async () => {
    const port = await freePort();
    expect(await freePort(port)).toBe(port);
  });

  it('is the next one if somebody has it, or it is already promised', async () => {
    const port = await freePort();
    await occupy(port);
    expect(await accepts(port)).toBe(true);
    const next = await freePort(port);
    expect(next).toBeGreaterThan(port);
    expect(await freePort(port, new Set([next]))).toBeGreaterThan(next);
  });

  it('accepts no connection', async () => {
    expect(await accepts(await freePort())).toBe(false);
  });
});

describe('a port for a node of a Redis Cluster', () => {
  it('is free, and so is the port 10,000 above it, which no outgoing connection takes', async () => {
    for (let nth = 0; nth < 20; nth++) {
      const port = await freeNodePort();
      await occupy(port);
      await occupy(port + 10_000);
      expect(port + 10_000).toBeLessThan(32_768);
    }
  });
});
