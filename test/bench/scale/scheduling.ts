import { createRoundDecider } from '../../../src/dispatch/placement/round-decision.ts';
import { estimateStarts } from '../../../src/scheduler/estimate.ts';
import { claim } from '../../support/claim.ts';
import { clusterRecord } from '../../support/store.ts';
import { timed } from '../harness.ts';
import type { Base } from './fleet.ts';
import { inputOf } from './load.ts';

const NODES = Array.from({ length: 16 }, (_node, at) => ({
  id: `n${at}`,
  cpusTotal: 64,
  gpusTotal: 8,
  cpusUsed: 0,
  gpusUsed: 0,
}));

/** Two clusters: `full`, on which an experiment has each node, and `free`, which is draining. */
export async function fillClusters({ store }: Base): Promise<void> {
  for (const name of ['full', 'free']) {
    await store.clusters.put(clusterRecord({ name, address: '127.0.0.1:1', generation: 'g', nodes: NODES }));
  }
  await store.clusters.setDraining('free', true);
  for (const { id } of NODES) {
    const { id: experiment } = await store.experiments.submit({ ...inputOf('default'), gpus: 8 });
    const { version: allocationVersion } = await store.clusters.allocations('full');
    const claimed = await claim(store, {
      experiment,
      cluster: 'full',
      nodes: [{ id, gpus: 8, cpus: 8 }],
      allocationVersion,
      dispatcher: 'd',
      leaseMs: 3_600_000,
    });
    if (claimed.outcome !== 'claimed') throw new Error(claimed.outcome);
    await store.attempts.confirm(claimed.lease);
  }
}

/** Decisions of a scheduling round, each a minute after the one before, so that none uses what an earlier one read. */
export function createRounds({ store }: Base) {
  let now = Date.now();
  const decide = createRoundDecider({ store, elapsed: () => now });
  let decision: Awaited<ReturnType<typeof decide>> | undefined;
  return {
    async decide(): Promise<number> {
      now += 60_000;
      for (const name of ['full', 'free']) {
        const seen = { address: '127.0.0.1:1', generation: 'g', nodes: NODES };
        await store.clusters.see(name, seen);
      }
      return await timed(async () => {
        decision = await decide();
      });
    },
    estimate(): Promise<number> {
      return timed(async () => estimateStarts(decision!.input, decision!.schedule));
    },
  };
}

/** Times (ms) of rounds that read as much of the queue as a round ever does; see {@link fillClusters}. */
export async function longestRounds(
  base: Base,
  { projects, rounds: count }: { projects: readonly string[]; rounds: number },
): Promise<number[]> {
  const { store } = base;
  for (const name of projects) await store.projects.change(name, { gpuQuota: 0 });
  await store.clusters.setDraining('free', false);
  const rounds = createRounds(base);
  await rounds.decide();
  const times: number[] = [];
  while (times.length < count) times.push(await rounds.decide());
  await store.clusters.setDraining('free', true);
  for (const name of projects) await store.projects.change(name, { gpuQuota: null });
  return times;
}
