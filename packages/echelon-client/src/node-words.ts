import type { Answer } from './calls.ts';
import { shortNode } from './short-node.ts';

type Node = Answer<'get', '/v1/clusters'>['items'][number]['nodes'][number];

const MODEL = 'ray.io/accelerator-type';
/** Labels that are shown by themselves. */
const NAMED: readonly string[] = [MODEL, 'host', 'ray.io/node-id'];

/** A node for people: its host name with the start of its id, or the id alone. */
export function nodeName({ id, labels }: Pick<Node, 'id' | 'labels'>): string {
  return labels.host ? `${labels.host} (${shortNode(id)})` : shortNode(id);
}

/** The model of a node's GPUs, as specs select it; empty: not known, or no GPUs. */
export function gpuModel({ labels, health }: Pick<Node, 'labels' | 'health'>): string {
  return labels[MODEL] ?? health?.gpus[0]?.model ?? '';
}

/** The other labels by which specs select a node: `zone=a, memory=80`. */
export function otherLabels({ labels }: Pick<Node, 'labels'>): string {
  const shown = Object.entries(labels).filter(([key]) => !NAMED.includes(key));
  return shown.map(([key, value]) => `${key}=${value}`).join(', ');
}

/** The faults of a node's GPUs that its state does not name: `GPU 3: Xid 79`. */
export function gpuFaults({ health, stateReason }: Pick<Node, 'health' | 'stateReason'>): string[] {
  const faults = (health?.gpus ?? []).flatMap((gpu) => gpu.faults.map((fault) => `GPU ${gpu.gpu}: ${fault}`));
  return faults.filter((fault) => !stateReason.includes(fault));
}

/** A figure in percent as text: `42 %`; `-`: not known. */
export const inPercent = (value: number | null): string => (value === null ? '-' : `${Math.round(value)} %`);
