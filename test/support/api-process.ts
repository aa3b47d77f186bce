// The HTTP app as a process of its own, for campaigns that kill or freeze it. Run by startApiProcess.

import { createInterface } from 'node:readline';
import { pino } from 'pino';
import { createApp } from '../../src/http/app.ts';
import type { AppDeps } from '../../src/http/server/deps.ts';
import { watchStore } from '../../src/main/watch-store.ts';
import type { Bucket } from '../../src/store/archive/archive-s3.ts';
import { watchClock } from '../../src/store/clock/watch-clock.ts';
import { bindStore, connectTo, QUIET } from './dispatch.ts';
import { followsClock, shiftClock } from './shifted-clock.ts';

/** More often than in production, so that a campaign sees many refusals. */
const WATCH_MS = 500;

const setup = JSON.parse(process.argv[2] ?? '{}') as {
  url: string;
  archive: string | Bucket;
  port: number;
  token: string;
  /** How far its clock is after this machine's. */
  clockMs?: number;
};
shiftClock(setup.clockMs ?? 0);
const { redis, store, queue } = connectTo(setup, setup.archive);
const installation = await bindStore(store);
const watch = watchStore({
  store,
  connection: redis,
  installation,
  allowUnfit: false,
  log: QUIET,
  everyMs: WATCH_MS,
});
const unused = async () => {
  throw new Error('no batch is recomputed on demand here');
};
const app = await createApp({
  store,
  queue,
  verifier: { explain: unused, tokens: unused, rows: unused, bundle: unused, verifyFile: unused },
  settings: {
    version: '0.0.0-test',
    publicUrl: `http://127.0.0.1:${setup.port}`,
    allowedHosts: ['127.0.0.1'],
    promptEndpoints: [],
    tokens: [setup.token],
    cookieSecret: 'secret-of-the-tests-0123456789-abcdef',
    limits: { requests: 1_000_000, streams: 1_000 },
  },
  log: pino({ level: 'warn' }, pino.destination(2)) as AppDeps['log'],
  clock: await watchClock(store),
  storeFault: watch.fault,
});
const told = createInterface({ input: process.stdin });
// The test is gone, however it ended.
told.on('close', () => process.exit(1));
told.on('line', (line) => followsClock(line));
await app.listen({ host: '127.0.0.1', port: setup.port });
process.stdout.write('ready\n');
