import { setTimeout as delay } from 'node:timers/promises';
import { between, type Fault } from './fault.ts';

/** Faults of dispatchers. One dispatcher at least stays alive. */
export const DISPATCHER_FAULTS: readonly Fault[] = [
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
