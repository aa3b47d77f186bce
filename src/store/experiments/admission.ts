import { EchelonError } from '../../core/errors.ts';
import { projectRemoved } from '../access/projects.ts';
import type { Pause } from '../queue/contract.ts';

/** What a step that takes new work in answers: `ok`, its id, `1` where it made it; or why it does not. */
export type Admission =
  | ['ok', string, '0' | '1']
  | ['conflict' | 'full' | 'no-project' | 'queue-full']
  | ['closed', string];

/**
 * The id, and whether this call made it. Throws EchelonError `idempotency-conflict`, `store-full`, `invalid-spec` with
 * `projectField` for a project that is gone, and `queue-full` where more than `mostWaiting` of it would wait, `queue-closed` where its queue
 * takes nothing new.
 */
export function admitted(
  reply: Admission,
  { projectField, mostWaiting }: { projectField: string; mostWaiting: number },
): { id: string; created: boolean } {
  switch (reply[0]) {
    case 'ok':
      return { id: reply[1], created: reply[2] === '1' };
    case 'conflict':
      throw new EchelonError(
        'idempotency-conflict',
        'The Idempotency-Key was used with another request; use a new key',
      );
    case 'full':
      throw storeFull();
    case 'no-project':
      throw projectRemoved(projectField);
    case 'closed':
      throw queueClosed(reply[1]);
    case 'queue-full':
      throw queueFull(mostWaiting);
  }
}

/** EchelonError `queue-full`. Children that sweeps will make count too. */
export function queueFull(mostWaiting: number): EchelonError {
  return new EchelonError(
    'queue-full',
    `No more than ${mostWaiting.toLocaleString('en')} experiments of a project may wait, children of its sweeps included; go on when some have started, or cancel some.`,
  );
}

/** EchelonError `queue-closed`. `note`: who closed the queue, as the store keeps it (JSON of a `Pause`). */
export function queueClosed(note: string): EchelonError {
  const { by, reason } = JSON.parse(note) as Pause;
  return new EchelonError(
    'queue-closed',
    `${by} closed the queue${reason === null ? '' : `: ${reason}`}. Accepted experiments continue. Submit again after the queue has been resumed.`,
  );
}

/** EchelonError `store-full`. */
export function storeFull(): EchelonError {
  return new EchelonError(
    'store-full',
    'The store is nearly full; what was accepted goes on, try again later',
  );
}
