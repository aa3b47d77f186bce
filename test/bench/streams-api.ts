// The api of the bench of streams, in a process of its own, which reports its memory and CPU time to the parent.
import type { Server } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { createApp } from '../../src/http/app.ts';
import type { AppDeps } from '../../src/http/server/deps.ts';
import { createStore } from '../../src/store/store.ts';
import { cpuClock } from './harness.ts';

const [redisPort, port, ...tokens] = process.argv.slice(2) as [string, string, ...string[]];

/** What the api has used; `cpuMs` and `loopMs` (longest turn of the event loop) are since the last time. */
export interface ApiFigures {
  rss: number;
  heap: number;
  external: number;
  cpuMs: number;
  loopMs: number;
  connections: number;
}

const redis = new Redis(Number(redisPort), { maxRetriesPerRequest: 1, enableOfflineQueue: false });
const store = createStore({ redis, archive: { put: unexpected, get: unexpected, remove: unexpected } });
const app = await createApp({
  store,
  clock: Date,
  log: pino({ level: 'silent' }),
  queue: { enqueue: unexpected, remove: unexpected, queues: [] },
  verifier: {
    explain: unexpected,
    tokens: unexpected,
    rows: unexpected,
    bundle: unexpected,
    verifyFile: unexpected,
  },
  settings: {
    version: '0',
    publicUrl: 'http://127.0.0.1',
    allowedHosts: ['127.0.0.1'],
    promptEndpoints: [],
    tokens,
    cookieSecret: 'x'.repeat(32),
    limits: { allStreams: 20_000, connections: 20_000 },
  },
} as AppDeps);
await app.listen({ host: '127.0.0.1', port: Number(port), backlog: 4096 });

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
let cpu = cpuClock();
process.on('message', async () => {
  const cpuMs = cpu() / 1000;
  const loopMs = delay.max / 1e6;
  for (let times = 0; times < 2; times += 1) globalThis.gc?.();
  const { rss, heapUsed: heap, external } = process.memoryUsage();
  process.send!({
    rss,
    heap,
    external,
    cpuMs,
    loopMs,
    connections: await connectionsOf(app.server),
  } satisfies ApiFigures);
  cpu = cpuClock();
  delay.reset();
});
process.once('SIGTERM', () => {
  void app
    .close()
    .then(() => store.close())
    .then(() => process.exit());
});
// Without its parent no process would end it.
process.on('disconnect', () => process.exit());
process.send!('ready');

async function connectionsOf(server: Server): Promise<number> {
  return await promisify(server.getConnections.bind(server))();
}

async function unexpected(): Promise<never> {
  throw new Error('nothing here asks for it');
}
