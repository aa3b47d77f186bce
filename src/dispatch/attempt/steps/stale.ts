import type { RayWorkerClient } from '../../../rpc/ray-worker.ts';
import type { AttemptContext } from '../context.ts';
import { type Interrupted, repeat, type Stale } from '../step.ts';

/*
 * The store gives out attempt numbers, and the cluster remembers the highest. If the cluster knows a higher number, the
 * record is stale: the store was restored from a backup, a replica was promoted too early, or another store uses the
 * cluster as well.
 */

/** The highest attempt above `attempt` that the ray-worker knows; undefined: there is none. */
export async function findHigher(
  client: Pick<RayWorkerClient, 'list'>,
  { experiment, attempt }: { experiment: string; attempt: number },
  signal: AbortSignal,
): Promise<{ highest: number; launched: boolean; running: boolean } | undefined> {
  const known = await client.list(experiment, signal);
  const highest = Math.max(0, ...known.map((item) => item.attempt));
  if (highest <= attempt) return undefined;
  const launched = known.some((item) => item.attempt === highest && !item.tombstone);
  return { highest, launched, running: known.some(({ running }) => running) };
}

/** The record is stale, or else `otherwise`. */
export function checkStale<Otherwise>(
  context: AttemptContext,
  otherwise: Otherwise,
): Promise<Otherwise | Stale | Interrupted> {
  return repeat(context, 'ask for higher attempts', async (): Promise<Otherwise | Stale> => {
    const higher = await findHigher(await context.rayWorker(), context.lease, context.yielded);
    return higher ? { kind: 'stale', ...higher } : otherwise;
  });
}

/** Stops a running attempt that the record does not know: a cancelled experiment leaves no running process. */
export async function stopHigher(
  { lease, rayWorker }: AttemptContext,
  options: { gracePeriodMs: number; reason: string },
  signal: AbortSignal,
): Promise<void> {
  const client = await rayWorker();
  const higher = await findHigher(client, lease, signal);
  if (higher?.running) await client.stop(lease.experiment, higher.highest, options, signal);
}
