import type { Store } from '../../store/store.ts';
import type { RouteDeps } from './deps.ts';

/** What is known of the dispatchers. */
export interface Dispatchers {
  /** Dispatchers that are connected; 0 also if Redis hides its connections. */
  connected: number;
  /** Attempts that one of them follows. */
  held: number;
  /** Attempts that none of them follows any more. */
  expired: number;
  /** Whether there is any. */
  present: boolean;
}

/** Asks Redis for the dispatchers. */
export async function findDispatchers({
  store,
  queue,
}: {
  store: Pick<Store, 'attempts'>;
  queue: RouteDeps['queue'];
}): Promise<Dispatchers> {
  // Each dispatcher serves all queues.
  const [first] = queue.queues;
  const [{ held, expired }, connected = 0] = await Promise.all([
    store.attempts.leases(),
    first?.getWorkersCount(),
  ]);
  return { connected, held, expired, present: connected > 0 || held > 0 };
}
