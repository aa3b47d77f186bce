import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../support/dispatch.ts';
import { anyShift } from './clock.ts';
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
    kind: 'all dispatchers and the api: SIGTERM and a start, one by one, as in an upgrade',
    outage: false,
    async strike({ dispatchers, api }) {
      for (const part of [...dispatchers, api]) await part.replace('SIGTERM');
    },
  },
  {
    kind: 'dispatcher: refused by the ray-worker alone, longer than its lease',
    outage: false,
    async strike({ dispatchers, leaseMs }, random) {
      const { toRayWorker } = pick(random, dispatchers);
      toRayWorker.cut();
      await delay(between(random, 2 * leaseMs, 8 * leaseMs));
      toRayWorker.heal();
    },
  },
  {
    kind: 'dispatcher: its connections to the ray-worker stalled, then all bytes at once',
    outage: false,
    async strike({ dispatchers, leaseMs }, random) {
      const ms = between(random, leaseMs, 2 * leaseMs);
      pick(random, dispatchers).toRayWorker.stall(ms);
      await delay(ms);
    },
  },
  {
    kind: 'dispatcher: its clock is set, up to an hour off',
    outage: false,
    strike: ({ dispatchers }, random) => pick(random, dispatchers).setClock(anyShift(random)),
  },
  {
    kind: 'dispatcher: SIGKILL after each of three starts, beside drivers that say nothing',
    outage: false,
    async strike({ bench, leaseMs, dispatchers }, random) {
      await until(() => bench.rayWorker.silent(leaseMs).length > 0, 'a driver says nothing for a lease');
      const victim = pick(random, dispatchers);
      for (let times = 0; times < 3; times += 1) {
        await victim.replace('SIGKILL');
        await delay(between(random, 0, 500));
      }
    },
  },
];
