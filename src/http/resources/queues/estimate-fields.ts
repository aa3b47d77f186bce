import type { ExperimentDetail } from '../../../schemas/api.ts';
import type { QueuedExperiment } from '../../../store/queue/types.ts';

/** The expected start of a queued experiment, or why there is none, as the API shows it. */
export function estimateFields({
  estimate = null,
  unknown = null,
  reason,
}: Pick<QueuedExperiment, 'estimate' | 'unknown' | 'reason'>): Pick<
  ExperimentDetail,
  'estimate' | 'noEstimate'
> {
  if (estimate !== null) return { estimate, noEstimate: null };
  const never =
    reason === null ? 'no scheduling round has read it yet' : 'the last scheduling round found no estimate';
  return { estimate: null, noEstimate: unknown ?? never };
}
