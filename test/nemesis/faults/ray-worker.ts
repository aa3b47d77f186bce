import { setTimeout as delay } from 'node:timers/promises';
import { connectionFaults } from './connection.ts';
import { between, type Fault, pick } from './fault.ts';

/** Faults of the ray-worker, of the connection to it, and of drivers. */
export const RAY_WORKER_FAULTS: readonly Fault[] = [
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
  ...connectionFaults('to the ray-worker', ({ rayWorkerProxy }) => rayWorkerProxy),
  {
    kind: 'driver: killed',
    outage: false,
    async strike({ bench: { rayWorker } }, random) {
      const running = rayWorker.running();
      if (running.length === 0) return;
      const { experiment, attempt } = pick(random, running);
      rayWorker.kill(experiment, attempt);
    },
  },
];
