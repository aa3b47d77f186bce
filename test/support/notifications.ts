import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { blockList } from '../../src/dispatch/notifications/addresses.ts';
import type { NotificationDeps } from '../../src/dispatch/notifications/notifications.ts';
import { createDeliveriesQueue } from '../../src/queue/deliveries-queue.ts';
import type { Scope } from './store.ts';

/** The key of the signatures in {@link secretsFor}, which each project has as `hook`. */
export const HOOK_SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

/** A directory with secrets of the projects `default` and others, by name. */
export async function secretsFor(
  scope: Scope,
  secrets: Readonly<Record<string, string>> = {},
  project = 'default',
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-notify-'));
  scope.after(() => rm(directory, { recursive: true, force: true }));
  await mkdir(join(directory, project));
  for (const [name, value] of Object.entries({ hook: HOOK_SECRET, ...secrets }))
    await writeFile(join(directory, project, name), `${value}\n`);
  return directory;
}

/** Sends notifications with the secrets of a directory, also to 127.0.0.1, and retries soon. The queue lives as long as the process. */
export function notificationsTo(
  redis: Redis,
  secretsDir: string | null,
  settings: Partial<NotificationDeps['settings']> = {},
): NotificationDeps {
  return {
    queue: createDeliveriesQueue({ redis, prefix: '{echelon}', onError: () => {} }),
    settings: {
      secretsDir,
      allowed: blockList(['127.0.0.1']),
      smtpUrl: null,
      smtpFrom: null,
      mailDomains: ['example.com'],
      publicUrl: 'https://echelon.example',
      ...settings,
    },
    retry: { firstMs: 50, longestMs: 400 },
    lockMs: 1_500,
  };
}

/** A request that a {@link Receiver} got. */
export interface Received {
  headers: IncomingHttpHeaders;
  text: string;
  path: string;
  body: { type: string; timestamp: string; data: Record<string, unknown> };
}

/** An HTTP server that records what it gets. */
export interface Receiver {
  url: string;
  received: Received[];
  /** Ends it: connections are refused until `start`. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** The status of an answer, with headers. */
type Answer = number | { status: number; headers: Record<string, string> };

/** Starts a receiver; `answer` gives the status of each request, at once or later. A request counts as received when it is answered 2xx. */
export async function receiverFor(
  scope: Scope,
  answer: (request: Received, count: number) => Answer | Promise<Answer> = () => 200,
): Promise<Receiver> {
  const received: Received[] = [];
  let count = 0;
  let port = 0;
  let server: Server | undefined;
  async function start(): Promise<void> {
    server = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
      const one = { headers: request.headers, text, path: request.url ?? '', body: JSON.parse(text) };
      count += 1;
      const given = await answer(one, count);
      const { status, headers } = typeof given === 'number' ? { status: given, headers: {} } : given;
      if (status < 300) received.push(one);
      response.writeHead(status, { location: 'http://127.0.0.1:1/', ...headers }).end();
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as { port: number }).port;
  }
  async function stop(): Promise<void> {
    server?.closeAllConnections();
    server?.close();
  }
  await start();
  scope.after(stop);
  return { url: `http://127.0.0.1:${port}/hook`, received, start, stop };
}
