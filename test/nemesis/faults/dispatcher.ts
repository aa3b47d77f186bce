import { setTimeout as delay } from 'node:timers/promises';
import { between, type Fault, pick } from './fault.ts';

/** Faults of dispatchers. One dispatcher at least stays alive. */
export const DISPATCHER_FAULTS: readonly Fault[] = [
  {
    kind: 'dispatcher: SIGKILL',
    outage: false,
    strike: ({ dispatchers }, random) => pick(random, dispatchers).replace('SIGKILL'),
  },
  {
    kind: 'dispatcher: SIGSTOP, longer than its lease',
    outage: false,
    strike: ({ dispatchers, leaseMs }, random) =>
      pick(random, dispatchers).freeze(between(random, 1.2 * leaseMs, 2.5 * leaseMs)),
  },
  {
    kind: 'dispatcher: SIGTERM',
    outage: false,
    strike: ({ dispatchers }, random) => pick(random, dispatchers).replace('SIGTERM'),
  },
  {
    kind: 'dispatcher: SIGKILL after each of three starts',
    outage: false,
    async strike({ dispatchers }, random) {
      const victim = pick(random, dispatchers);
      for (let times = 0; times < 3; times += 1) {
        await victim.replace('SIGKILL');
        await delay(between(random, 0, 500));
      }
    },
  },
];
