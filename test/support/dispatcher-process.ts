// A dispatcher as a process of its own, for tests that kill or freeze it. Run by startDispatcherProcess.

import { createInterface } from 'node:readline';
import { type Decorators, decorate } from '../../src/core/decorate.ts';
import { createDispatcher } from '../../src/dispatch/dispatcher.ts';
import { createRayWorkerClient } from '../../src/rpc/client.ts';
import type { Bucket } from '../../src/store/archive/archive-s3.ts';
import type { StoredReport } from '../../src/store/batches/stored-report.ts';
import { watchClock } from '../../src/store/clock/watch-clock.ts';
import type { Store } from '../../src/store/store.ts';
import { AGREEING, bindStore, compileTestSpec, connectTo, TEST_TIMES, until } from './dispatch.ts';
import { decoratorsOf, type Failpoint } from './failpoints.ts';
import { createLineLog } from './kept-log.ts';
import { notificationsTo } from './notifications.ts';
import { recordLeases } from './recorded-leases.ts';
import { followsClock, shiftClock } from './shifted-clock.ts';

const setup = JSON.parse(process.argv[2] ?? '{}') as {
  url: string;
  archive: string | Bucket;
  id: string;
  leaseMs: number;
  holdBeforeLaunch: boolean;
  /** Steps whose batches end the process that verifies them. */
  deadlySteps: number[];
  diesAtLaunchOf?: string;
  diesAtEventsOf?: string;
  failpoint?: Failpoint;
  /** How far its clock is after this machine's. */
  clockMs?: number;
  /** When it notices a half-open connection to a ray-worker. */
  keepalive?: { timeMs: number; timeoutMs: number };
  /** Its way to the ray-worker. Default: the address of the cluster. */
  rayWorker?: string;
  /** A directory, in which what it does with leases is recorded. */
  leases?: string;
  /** The pace of archiving and retention, which then begin at the end of an experiment. Default: as in production. */
  retentionMs?: number;
  /** Default: as in production. */
  preemptWithinMs?: number;
  /** Directory of secrets: it sends notifications, also to 127.0.0.1, and retries soon. */
  notify?: string;
};
shiftClock(setup.clockMs ?? 0);

const say = (word: string) => process.stdout.write(`${word}\n`);
const { redis, store, queue, close } = connectTo(setup, setup.archive);
const failpoint = setup.failpoint ? decoratorsOf(setup.failpoint, () => say('failpoint')) : {};
const interrupted = <T extends object>(parts: T): T => decorate(parts, failpoint as Decorators<T>);
/** As a fault of the native kind: the process is gone, at once. */
const die = () => process.kill(process.pid, 'SIGKILL');
await bindStore(store);
await watchClock(store);
let losses = 0;
redis.on('close', () => losses++);
const recorded = <T extends { store: Store }>(parts: T): T =>
  setup.leases === undefined
    ? parts
    : {
        ...parts,
        store: recordLeases(parts.store, {
          directory: setup.leases,
          name: setup.id,
          losses: () => losses,
        }),
      };
const toldToLaunch = Promise.withResolvers<void>();

/** The fake batches consist of their step; a deadly one ends this process, as one that takes all memory does. */
async function verify(wire: Uint8Array): Promise<StoredReport> {
  // The others that are verified at this time have begun as well.
  await new Promise((resolve) => setTimeout(resolve, 50));
  if (setup.deadlySteps.includes(wire[0] ?? 0)) die();
  return await AGREEING.verify(wire);
}

const dispatcher = createDispatcher({
  ...recorded(
    interrupted({
      store: {
        ...store,
        events: {
          ...store.events,
          async append(lease, events) {
            if (lease.experiment === setup.diesAtEventsOf) die();
            return await store.events.append(lease, events);
          },
        },
      } satisfies Store,
      queue,
    }),
  ),
  connect: (cluster) =>
    interrupted({
      rayWorker: createRayWorkerClient({
        ...cluster,
        ...(setup.rayWorker !== undefined && { address: setup.rayWorker }),
        ...(setup.keepalive && { keepalive: setup.keepalive }),
      }),
    }).rayWorker,
  verifier: { verify },
  verifications: 3,
  compile: compileTestSpec,
  log: createLineLog((text) => console.error(text)),
  id: setup.id,
  times: {
    ...TEST_TIMES,
    leaseMs: setup.leaseMs,
    ...(setup.retentionMs !== undefined && { retentionMs: setup.retentionMs, archiveAfterMs: 0 }),
  },
  // A campaign causes more messages than a project may send.
  ...(setup.notify !== undefined && {
    notifications: { ...notificationsTo(redis, setup.notify), rates: () => [] },
  }),
  ...(setup.preemptWithinMs !== undefined && { preemptWithinMs: setup.preemptWithinMs }),
  hooks: {
    async beforeLaunch({ experiment }) {
      if (experiment === setup.diesAtLaunchOf) die();
      if (!setup.holdBeforeLaunch) return;
      say('before-launch');
      await toldToLaunch.promise;
    },
  },
});
const told = createInterface({ input: process.stdin });
// The test is gone, however it ended.
told.on('close', () => process.exit(1));
told.on('line', (word) => {
  if (followsClock(word)) return;
  if (word === 'launch') toldToLaunch.resolve();
  if (word === 'report-idle')
    void until(() => dispatcher.stats().attempts === 0, 'nothing is in hand').then(() => say('idle'));
});
// A failpoint may end this process while it starts.
if (setup.failpoint) say('ready');
await dispatcher.start();
process.on('SIGTERM', async () => {
  await dispatcher.stop({ handOver: true });
  await close();
  process.exit(0);
});
if (!setup.failpoint) say('ready');
