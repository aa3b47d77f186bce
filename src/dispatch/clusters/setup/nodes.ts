import { plural } from 'echelon-verify/text/plural';
import type { RayNode } from 'ray-client-ts/cluster';
import { amount } from '../../../scheduler/wait-reasons.ts';
import { SetupError } from './problems.ts';

/** The node with that id (or at least 8 leading characters of it), address or host name. Throws {@link SetupError}. */
export function findNode(nodes: readonly RayNode[], wanted: string): RayNode {
  const found = nodes.filter(
    ({ id, address, hostname }) =>
      address === wanted || hostname === wanted || (wanted.length >= 8 && id.startsWith(wanted)),
  );
  if (found.length === 1) return found[0]!;
  const known = nodes.map(({ id, address }) => `${id.slice(0, 12)} (${address})`).join(', ');
  throw new SetupError(
    `${found.length === 0 ? 'No node' : 'More than one node'} of the cluster is ${wanted}.`,
    `Name one of these by its id or address: ${known}`,
  );
}

/** Ray's head node. Throws {@link SetupError} if the cluster has no node. */
export function headOf(nodes: readonly RayNode[]): RayNode {
  const head = nodes.find((node) => node.isHead) ?? nodes[0];
  if (head === undefined) throw new SetupError('The cluster has no live node.', 'Start one, then try again.');
  return head;
}

/** The sum over the nodes, in words. */
export function sizeInWords(nodes: readonly RayNode[]): string {
  const sum = (resource: string) => nodes.reduce((all, node) => all + (node.resources[resource] ?? 0), 0);
  return `${plural(nodes.length, 'node')}, ${amount(sum('GPU'), 'GPU')} and ${amount(sum('CPU'), 'CPU')}`;
}
