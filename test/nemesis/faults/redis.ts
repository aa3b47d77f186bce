import { setTimeout as delay } from 'node:timers/promises';
import { between, type Fault } from './fault.ts';

/** Faults of Redis and of the connections to it. */
export const REDIS_FAULTS: readonly Fault[] = [
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
