import { setTimeout as delay } from 'node:timers/promises';
import type { World } from './world.ts';

/** A kind of fault. */
export interface Fault {
  /** What it happens to, and how. */
  readonly kind: string;
  /** Nothing can be recorded until it is over: times count from its end. Otherwise they count from its beginning. */
  readonly outage: boolean;
  /** Returns when the fault is over and the process that it happened to answers again. */
  strike(world: World, random: () => number): Promise<void>;
}

const between = (random: () => number, low: number, high: number) =>
  low + Math.floor(random() * (high - low));

/** Faults of dispatchers. One dispatcher at least stays alive. */
const DISPATCHER: Fault[] = [
  {
    kind: 'dispatcher: SIGKILL',
    outage: false,
    strike: async (world, random) => world.dispatchers.replace(random, 'SIGKILL'),
  },
  {
    kind: 'dispatcher: SIGSTOP, longer than its lease',
    outage: false,
    strike: async (world, random) =>
      world.dispatchers.freeze(random, between(random, 1.2 * world.leaseMs, 2.5 * world.leaseMs)),
  },
  {
    kind: 'dispatcher: SIGTERM',
    outage: false,
    strike: async (world, random) => world.dispatchers.replace(random, 'SIGTERM'),
  },
  {
    kind: 'dispatcher: SIGKILL after each of three starts',
    outage: false,
    async strike(world, random) {
      for (let times = 0; times < 3; times += 1) {
        await world.dispatchers.replace(random, 'SIGKILL', { newest: times > 0 });
        await delay(between(random, 0, 500));
      }
    },
  },
];

/** Faults of the ray-worker, of the connection to it, and of drivers. */
const RAY_WORKER: Fault[] = [
  {
    kind: 'ray-worker: away',
    outage: true,
    async strike({ bench: { rayWorker } }, random) {
      await rayWorker.down();
      await delay(between(random, 100, 3_000));
      await rayWorker.up();
    },
  },
  ...(['lose-answer', 'unavailable'] as const).map(
    (fault): Fault => ({
      kind: `ray-worker: launches, ${fault === 'lose-answer' ? 'the answer is lost' : 'refused'}`,
      outage: false,
      async strike({ bench: { rayWorker } }, random) {
        rayWorker.launchFault = fault;
        await delay(between(random, 200, 1_500));
        rayWorker.launchFault = 'none';
      },
    }),
  ),
  {
    kind: 'ray-worker: event streams cut',
    outage: false,
    strike: async ({ bench }) => bench.rayWorker.breakStreams(),
  },
  {
    kind: 'driver: killed',
    outage: false,
    async strike({ bench: { rayWorker } }, random) {
      const running = rayWorker.running();
      const victim = running[between(random, 0, running.length)];
      if (victim) rayWorker.kill(victim.experiment, victim.attempt);
    },
  },
];

/** Faults of Redis and of the connections to it. */
const REDIS: Fault[] = [
  {
    kind: 'Redis: SIGKILL, and a start with its append-only file',
    outage: true,
    strike: ({ bench }) => bench.server.restart('SIGKILL'),
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
    kind: 'connections to Redis: cut',
    outage: false,
    strike: async ({ redisProxy }) => redisProxy.reset(),
  },
];

/** Faults of the api. */
const API: Fault[] = [
  { kind: 'api: SIGKILL', outage: false, strike: (world) => world.api.replace() },
  {
    kind: 'api: SIGSTOP',
    outage: false,
    strike: (world, random) => world.api.freeze(between(random, 200, 8_000)),
  },
  { kind: 'connections to the api: cut', outage: false, strike: async ({ apiProxy }) => apiProxy.reset() },
];

/** The faults of each world. */
export const WORLDS: Readonly<Record<string, readonly Fault[]>> = {
  dispatcher: DISPATCHER,
  'ray-worker': RAY_WORKER,
  redis: REDIS,
  api: API,
  mixed: [...DISPATCHER, ...RAY_WORKER, ...REDIS, ...API],
};
