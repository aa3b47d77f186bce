import type { Cluster } from '../../../store/clusters/types.ts';
import type { Slurm } from './commands.ts';
import { isLive } from './decide.ts';

/** Cancels all jobs of a cluster that is removed, and returns their number. */
export async function cancelAll(slurm: Slurm, { slurm: place, slurmState }: Cluster): Promise<number> {
  const live = (slurmState?.jobs ?? []).filter((job) => isLive(job) && job.job !== null);
  for (const { job } of live) await slurm.cancel(place!, job!);
  return live.length;
}
