import { plural } from 'command-kit/plural';
import type { RayNode } from 'ray-client-ts/cluster';
import { createRayWorkerClient } from '../../../rpc/client.ts';
import { checkHealth } from '../../../rpc/health.ts';
import type { RayWorkerDescription } from '../../../rpc/ray-worker.ts';
import { RayWorkerError } from '../../../rpc/status.ts';
import { amount } from '../../../scheduler/wait-reasons.ts';
import type { RayPlace } from '../../../store/clusters/types.ts';
import type { RayWorkerConnection } from './actor.ts';
import { SetupError } from './problems.ts';

const REACH_MS = 8_000;

/**
 * The host on which the ray-worker listens: the address that Ray uses on its node. If dispatchers reach Ray over loopback,
 * they run on the head's machine, and a ray-worker on the head listens on loopback only.
 */
export function listeningHost(
  { address, advertise }: Pick<RayPlace, 'address' | 'advertise'>,
  node: Pick<RayNode, 'id' | 'address'>,
  head: Pick<RayNode, 'id'>,
): string {
  const near = advertise === null && isLoopback(address.replace(/^ray:\/\//, ''));
  return near && node.id === head.id ? '127.0.0.1' : node.address;
}

/** Checks that this process reaches this ray-worker, and no other program, at `address`. */
export async function reach(
  address: string,
  { token, ca, generation }: RayWorkerConnection,
  {
    signal,
    owner,
    reachMs = REACH_MS,
  }: { signal: AbortSignal; owner?: string; reachMs?: number | undefined },
): Promise<RayWorkerDescription> {
  try {
    await checkHealth({ address, ca }, reachMs);
  } catch (error) {
    throw new SetupError(
      `The ray-worker runs, but ${address} cannot be reached from here.`,
      isLoopback(address)
        ? 'It listens on the loopback address of its own machine. Start Ray with --node-ip-address set to an address that the dispatchers reach, or run a dispatcher on that machine.'
        : `Open TCP port ${portOf(address)} of ${address.slice(0, -portOf(address).length - 1)} to the dispatchers (firewall, security group). --port chooses the port; on Kubernetes publish it (NodePort, LoadBalancer) and pass the address that leads there with --advertise host:port.`,
      error,
    );
  }
  const client = createRayWorkerClient({ address, token, ca, ...(owner !== undefined && { owner }) });
  try {
    const description = await client.describe(signal);
    if (description.generation !== generation) throw new Error('another generation');
    return description;
  } catch (error) {
    const owned = error instanceof RayWorkerError && /this ray-worker belongs to .*/.exec(error.message);
    if (owned)
      throw new SetupError(`The Ray cluster has an owner: ${owned[0]}.`, 'Remove it there first.', error);
    throw new SetupError(
      `Another program answers at ${address}, not the ray-worker of this cluster.`,
      'Pass the address at which dispatchers reach the ray-worker with --advertise host:port.',
      error,
    );
  } finally {
    client.close();
  }
}

/** Whether host:port is reachable from its own machine only. */
export function isLoopback(address: string): boolean {
  return /^(127\.|localhost:|\[::1\]:)/.test(address);
}

const portOf = (address: string): string => address.slice(address.lastIndexOf(':') + 1);

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
