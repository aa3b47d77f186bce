import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A listener for machines. */
interface MetricsServer {
  port: number;
  close(): Promise<void>;
}

const REQUEST_MS = 5_000;

/**
 * Serves `/metrics`, `/healthz` (200 while this process answers) and `/readyz` (200 while `ready` resolves, else 503)
 * on a port of its own, without a token: it belongs on a network that only the monitoring and the machine's own
 * health checks reach. Nothing here changes anything, and nothing secret is shown.
 */
export async function startMetricsServer({
  host,
  port,
  metrics,
  ready,
}: {
  host: string;
  /** 0: a free one. */
  port: number;
  metrics: { contentType: string; text(): Promise<string> };
  ready: () => Promise<unknown>;
}): Promise<MetricsServer> {
  const plain = 'text/plain; charset=utf-8';
  const pages: Record<string, () => Promise<{ status: number; type: string; text: string }>> = {
    '/metrics': async () => ({ status: 200, type: metrics.contentType, text: await metrics.text() }),
    '/healthz': async () => ({ status: 200, type: plain, text: 'ok\n' }),
    '/readyz': () =>
      ready().then(
        () => ({ status: 200, type: plain, text: 'ok\n' }),
        () => ({ status: 503, type: plain, text: 'the store does not answer\n' }),
      ),
  };
  const server = createServer(
    { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
    async (request, response) => {
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const page = pages[(request.url ?? '').split('?', 1)[0] ?? ''];
      const send = (status: number, type: string, text: string): void => {
        response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
        response.end(text);
      };
      if (!page) return send(404, plain, 'not found\n');
      if (!isRead) return send(405, plain, 'only GET\n');
      const answer = await page().catch(() => undefined);
      if (!answer) return send(500, plain, 'a fault of ours\n');
      send(answer.status, answer.type, answer.text);
    },
  );
  server.listen({ host, port });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      return closed.then(() => undefined);
    },
  };
}
