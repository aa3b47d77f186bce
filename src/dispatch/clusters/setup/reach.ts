import type { RayNode } from '../../../ray/cluster.ts';
import { createRayWorkerClient } from '../../../rpc/client.ts';
import { checkHealth } from '../../../rpc/health.ts';
import type { RayWorkerDescription } from '../../../rpc/ray-worker.ts';
import type { RayPlace } from '../../../store/clusters/contract.ts';
import type { RayWorkerConnection } from './actor.ts';
import { SetupError } from './problems.ts';

const REACH_MS = 8_000;

/**
 * Where Ray itself listens on that node, and nowhere else. Where Ray is spoken to over loopback, the dispatchers are on
 * the head's own machine, and the ray-worker there has no reason to be reachable from others.
 */
export function listeningHost(
  { address, advertise }: Pick<RayPlace, 'address' | 'advertise'>,
  node: Pick<RayNode, 'id' | 'address'>,
  head: Pick<RayNode, 'id'>,
): string {
  const near = advertise === null && isLoopback(address.replace(/^ray:\/\//, ''));
  return near && node.id === head.id ? '127.0.0.1' : node.address;
}

/** Sees that this very ray-worker answers at `address` to this process. */
export async function reach(
  address: string,
  { token, ca, generation }: RayWorkerConnection,
  { signal, reachMs = REACH_MS }: { signal: AbortSignal; reachMs?: number | undefined },
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
  const client = createRayWorkerClient({ address, token, ca });
  try {
    const description = await client.describe(signal);
    if (description.generation !== generation) throw new Error('another generation');
    return description;
  } catch (error) {
    throw new SetupError(
      `Somebody else answers at ${address}: not the ray-worker of this cluster.`,
      'Another program has that address for the dispatchers; --advertise host:port names the one that leads to the cluster.',
      error,
    );
  } finally {
    client.close();
  }
}

/** Whether only the machine itself can reach host:port. */
export function isLoopback(address: string): boolean {
  return /^(127\.|localhost:|\[::1\]:)/.test(address);
}

const portOf = (address: string): string => address.slice(address.lastIndexOf(':') + 1);
