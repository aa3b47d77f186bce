import type { ExperimentDetail } from '../../../schemas/api.ts';
import type { Waiting } from '../../../store/queue/contract.ts';

/** When one that waits is expected to start, or why nobody knows, as it is shown. */
export function waitingFields({
  estimate = null,
  unknown = null,
  reason,
}: Pick<Waiting, 'estimate' | 'unknown' | 'reason'>): Pick<ExperimentDetail, 'estimate' | 'noEstimate'> {
  if (estimate !== null) return { estimate, noEstimate: null };
  const never = reason === null ? 'no choice has looked at it yet' : 'the last choice found no estimate';
  return { estimate: null, noEstimate: unknown ?? never };
}
