import { randomUUID } from 'node:crypto';
import type { AllocationInput, Lease } from '../../src/store/attempts/types.ts';
import type { Store } from '../../src/store/store.ts';

/** Allocates to a queued experiment and acquires its attempt, as a scheduling round and a dispatcher do in turn. */
export async function claim(
  store: Store,
  {
    dispatcher,
    leaseMs,
    ...rest
  }: Omit<AllocationInput, 'project'> & { project?: string; dispatcher: string; leaseMs: number },
): Promise<{ outcome: 'claimed'; lease: Lease } | { outcome: 'not-queued' | 'changed' | 'busy' }> {
  const input = { project: 'default', ...rest };
  const [allocated] = await store.attempts.allocate([input]);
  if (allocated === 'changed') return { outcome: 'changed' };
  const { experiment } = input;
  const acquired = await store.attempts.acquire({ experiment, dispatcher, leaseMs, token: randomUUID() });
  if (acquired.outcome === 'acquired') return { outcome: 'claimed', lease: acquired.lease };
  return { outcome: acquired.outcome === 'busy' ? 'busy' : 'not-queued' };
}
