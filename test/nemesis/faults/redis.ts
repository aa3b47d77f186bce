import { setTimeout as delay } from 'node:timers/promises';
import { settledWithin } from '../../../src/core/settled-within.ts';
import { until } from '../../support/dispatch.ts';
import type { World } from '../world.ts';
import { connectionFaults } from './connection.ts';
import { between, type Fault } from './fault.ts';
import { oneAtATime } from './restarts.ts';

/** A Redis without room or with a broken disk ends at its next write, and its load writes all the time. */
const END_MS = 5_000;

const MAX_LEAP_MS = 800 * 86_400_000;

/** Redis ends with an error because of its disk, and a supervisor starts it when the disk is well again. */
function endsByDisk({ bench, disk }: World, fault: () => Promise<void>): Promise<void> {
  return oneAtATime(bench, async () => {
    await fault();
    await settledWithin(END_MS, bench.server.ended());
    await disk.heal();
    await bench.server.restart();
  });
}

const DISK_FAULTS: readonly Omit<Fault, 'missing'>[] = [
  {
    kind: 'disk of Redis: each sync takes 20 to 400 ms longer',
    outage: false,
    async strike({ disk }, random) {
      await disk.slow(between(random, 20, 400));
      await delay(between(random, 500, 4_000));
      await disk.heal();
    },
  },
  {
    kind: 'disk of Redis: power failure during a slow sync, unsynced bytes are lost',
    outage: true,
    strike: ({ bench, disk }, random) =>
      oneAtATime(bench, async () => {
        await disk.slow(between(random, 100, 400));
        await delay(between(random, 100, 1_000));
        await bench.server.kill();
        await disk.heal();
        await disk.losePower(bench.server.dir);
        await bench.server.start();
      }),
  },
  {
    kind: 'disk of Redis: full, Redis ends and is started again',
    outage: true,
    strike: (world) => endsByDisk(world, world.disk.fill),
  },
  {
    kind: 'disk of Redis: a sync fails, Redis ends and is started again',
    outage: true,
    strike: (world) => endsByDisk(world, world.disk.breakSync),
  },
];

/** Leaps of the clock of Redis. Until a process notices one, the store's time may pass for some seconds. */
export const CLOCK_FAULTS: readonly Fault[] = [
  {
    kind: 'Redis: its clock leaps, up to 800 days, and returns',
    outage: false,
    missing: ({ disk }) => disk.missing,
    async strike({ shiftRedisClock }, random) {
      await shiftRedisClock?.(between(random, -1, 2) * between(random, 1, MAX_LEAP_MS));
      await delay(between(random, 500, 8_000));
      await shiftRedisClock?.(0);
    },
  },
];

/** Faults of Redis, of its disk, and of the connections to it. */
export const REDIS_FAULTS: readonly Fault[] = [
  {
    kind: 'Redis: SIGKILL, and a start with its append-only file',
    outage: true,
    strike: ({ bench }) => oneAtATime(bench, () => bench.server.restart('SIGKILL')),
  },
  {
    kind: 'Redis: SIGSTOP',
    outage: true,
    async strike({ bench, leaseMs }, random) {
      bench.server.freeze();
      await delay(between(random, 200, 2 * leaseMs));
      bench.server.thaw();
    },
  },
  {
    kind: 'Redis: no memory left',
    outage: true,
    async strike({ bench: { redis } }, random) {
      await redis.config('SET', 'maxmemory', 1).catch(() => {}); // another fault may have ended Redis
      await delay(between(random, 500, 4_000));
      const restore = () => redis.config('SET', 'maxmemory', '16gb').catch(() => undefined);
      await until(restore, 'Redis has memory again');
    },
  },
  {
    kind: 'Redis: rewrites its append-only file without a pause',
    outage: false,
    async strike({ bench: { redis } }, random) {
      const end = performance.now() + between(random, 500, 3_000);
      for (; performance.now() < end; await delay(20)) {
        await redis.bgrewriteaof().catch(() => {}); // one is under way
      }
    },
  },
  ...connectionFaults('to Redis', ({ redisProxy }) => redisProxy),
  {
    kind: 'connections to Redis: about half of them half-open',
    outage: false,
    strike: async ({ redisProxy }, random) => redisProxy.freeze(() => random() < 0.5),
  },
  ...DISK_FAULTS.map((fault): Fault => ({ ...fault, missing: ({ disk }) => disk.missing })),
];
