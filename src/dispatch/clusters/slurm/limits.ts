import { plural } from 'command-kit/plural';
import { slurmMinutes } from '../../../core/slurm-time.ts';
import type { SlurmPlace } from '../../../store/clusters/types.ts';

/** Equal nodes of a partition, as `sinfo` lists them. */
export interface PartitionNodes {
  cpus: number;
  gpus: number;
  memoryMb: number;
  /** Longest time limit; null: none. */
  maxMinutes: number | null;
}

/** The format of `sinfo` that {@link toPartitionNodes} reads. */
export const PARTITION_FIELDS = '%c|%m|%G|%l';

/** A line of `sinfo --exact`; none if it has another form. */
export function toPartitionNodes(line: string): PartitionNodes[] {
  const [cpus, memory, gres = '', limit = ''] = line.trim().split('|');
  if (!/^\d+$/.test(cpus ?? '') || !/^\d+$/.test(memory ?? '')) return [];
  // For example gpu:h100:8(S:0-1),gpu:a30:2, or (null).
  const gpus = [...gres.matchAll(/\bgpu(?::[^:,()]+)?:(\d+)/g)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
  return [{ cpus: Number(cpus), gpus, memoryMb: Number(memory), maxMinutes: slurmMinutes(limit) ?? null }];
}

/**
 * Why no node of the partition can ever be given for the job of a node, in words; null: one can, or nothing is known of the
 * partition.
 */
export function whyNever(
  { partition, node, minutes }: Pick<SlurmPlace, 'partition' | 'node' | 'minutes'>,
  nodes: readonly PartitionNodes[],
): string | null {
  if (nodes.length === 0) return null;
  const large = nodes.filter(
    ({ cpus, gpus, memoryMb }) => cpus >= node.cpus && gpus >= node.gpus && memoryMb >= (node.memoryMb ?? 0),
  );
  const asked = `the node type asks for ${plural(node.gpus, 'GPU')} and ${plural(node.cpus, 'CPU')}`;
  if (large.length === 0) {
    const memory = node.memoryMb === null ? '' : ` with ${node.memoryMb} MB`;
    const most = (of: 'cpus' | 'gpus') => Math.max(...nodes.map((one) => one[of]));
    return `${asked}${memory}, but no node of the partition ${partition} has them: at most ${plural(most('gpus'), 'GPU')} and ${plural(most('cpus'), 'CPU')}`;
  }
  const limits = large.map(({ maxMinutes }) => maxMinutes ?? Number.POSITIVE_INFINITY);
  const longest = Math.max(...limits);
  return longest >= minutes
    ? null
    : `--time asks for ${minutes} minutes, but the partition ${partition} gives at most ${longest}`;
}
