import type { Bench } from '../../support/dispatch.ts';

const restarts = new WeakMap<Bench['server'], Promise<void>>();

/** Two faults may happen at a time, but one of them at most ends and starts a Redis, or changes what a start changes back. */
export function oneAtATime({ server }: Bench, fault: () => Promise<void>): Promise<void> {
  const next = (restarts.get(server) ?? Promise.resolve()).then(fault);
  restarts.set(server, next);
  return next;
}
