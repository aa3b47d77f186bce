import { EchelonError } from '../../core/errors.ts';
import type { Pause } from '../../schemas/answer-parts.ts';
import { projectRemoved } from '../access/projects.ts';
import type { StoreContext } from '../context.ts';
import type { Pressure } from '../redis/fitness.ts';

/** The answer of a step that accepts new work: `ok`, id, `1` if this call created it; or why it was refused. */
export type Admission =
  | ['ok', string, '0' | '1']
  | ['conflict' | 'full' | 'no-project' | 'queue-full']
  | ['closed', string]
  | ['over-quota', string, string];

/** Whether the store accepts new work, and its limits for a project, as arguments of a script. */
export async function admissionLimits(
  { limits }: Pick<StoreContext, 'limits'>,
  pressure: Pressure,
): Promise<{ accepting: '1' | '0'; maxQueued: number; projectBytes: number }> {
  const { accepting, projectBytes } = await pressure.recent();
  return { accepting: accepting ? '1' : '0', maxQueued: limits.queuedOfProject, projectBytes };
}

/**
 * The id, and whether this call created it. Throws EchelonError `idempotency-conflict`, `store-full`, `invalid-spec` with
 * `projectField` for a removed project, `queue-full` above `maxQueued` experiments of the project, `quota-exceeded`, and
 * `queue-closed`.
 */
export function admitted(
  reply: Admission,
  { projectField, maxQueued }: { projectField: string; maxQueued: number },
): { id: string; created: boolean } {
  switch (reply[0]) {
    case 'ok':
      return { id: reply[1], created: reply[2] === '1' };
    case 'conflict':
      throw new EchelonError(
        'idempotency-conflict',
        'The Idempotency-Key was used with another request. Use a new key.',
      );
    case 'full':
      throw storeFull();
    case 'no-project':
      throw projectRemoved(projectField);
    case 'closed':
      throw queueClosed(reply[1]);
    case 'queue-full':
      throw queueFull(maxQueued);
    case 'over-quota':
      throw quotaExceeded(reply[1], reply[2]);
  }
}

/** EchelonError `queue-full`. Future children of sweeps count too. */
function queueFull(maxQueued: number): EchelonError {
  return new EchelonError(
    'queue-full',
    `A project may have at most ${maxQueued.toLocaleString('en')} queued experiments, children of its sweeps included. Retry when some have started, or cancel some.`,
  );
}

/** EchelonError `quota-exceeded`. `used` and `bound`: the bytes of the project and their bound, as the store says them. */
export function quotaExceeded(used: string, bound: string): EchelonError {
  const bytes = (text: string) => Number(text).toLocaleString('en');
  return new EchelonError(
    'quota-exceeded',
    `The project stores ${bytes(used)} bytes in Redis, future children of its sweeps not included, and may store ${bytes(bound)}. Delete experiments that have ended, shorten the retention of the project, or ask an administrator for a larger quota.`,
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
function storeFull(): EchelonError {
  return new EchelonError(
    'store-full',
    'The store is nearly full. Accepted experiments continue. Retry later.',
  );
}
