/** The HTTP port for operators and orchestrators: /livez, /readyz and /metrics. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metrics, registry } from '@freshet/telemetry';
import { type Address, listening } from './listening.ts';
import { requestGuard } from './request-guard.ts';

interface Health {
  /** What the service waits for before it is ready; null if it is ready. */
  waitingFor(): string | null;
  /** Further paths, each answered with the result of its function as JSON. */
  readonly routes?: Readonly<Record<string, () => object | null>>;
  /** Sets the gauges that are measured at the moment of a scrape. */
  measure?(): Promise<void>;
}

interface AdminAddress extends Address {
  /** Does the Host header name this server? Guards against DNS rebinding. */
  answersTo(rawHeaders: readonly string[]): boolean;
}

const MISDIRECTED =
  'This admin port answers only to names of this machine: ask for localhost, 127.0.0.1 or [::1]. To reach it by other names or from other machines, set ADMIN_HOST.';

export class AdminServer {
  private constructor(private readonly server: Server) {}

  static async open(address: AdminAddress, health: Health): Promise<AdminServer> {
    const { answersTo } = address;
    const guard = requestGuard({ token: '', answersTo, misdirected: MISDIRECTED });
    // Without this option Node itself refuses a request without Host, and does not say why.
    const server = createServer({ requireHostHeader: false }, (request, response) => {
      guard.check(request, (refusal) => {
        if (refusal !== undefined) return reply(response, refusal.status, refusal.detail);
        void answer(request.url?.split('?')[0] ?? '', health, response);
      });
    });
    server.requestTimeout = 30_000;
    server.headersTimeout = 10_000;
    await listening(address, ({ host, port }) => {
      return new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(port, host, resolve);
      });
    });
    return new AdminServer(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

async function answer(path: string, health: Health, response: ServerResponse): Promise<void> {
  switch (path) {
    case '/livez':
      return reply(response, 200, 'live');
    case '/readyz': {
      const reason = health.waitingFor();
      return reply(response, reason === null ? 200 : 503, reason ?? 'ready');
    }
    case '/metrics':
      await health.measure?.();
      metrics.ready.set(Number(health.waitingFor() === null));
      response.setHeader('content-type', registry.contentType);
      response.end(await registry.metrics());
      return;
    default: {
      const route = health.routes?.[path];
      if (route !== undefined) return replyJson(response, route());
      return reply(response, 404, 'try /livez, /readyz or /metrics');
    }
  }
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

function replyJson(response: ServerResponse, body: object | null): void {
  const status = body === null ? 503 : 200;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
