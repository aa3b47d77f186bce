import type { Caller } from '../../../core/scopes.ts';
import type { ExperimentDetail } from '../../../schemas/api.ts';
import type { Experiment } from '../../../schemas/experiment.ts';
import type { Store } from '../../../store/store.ts';
import { seenWords } from '../../access/seen-words.ts';
import { withSilence } from '../clusters/cluster-views.ts';
import { estimateFields } from '../queues/estimate-fields.ts';

/**
 * An experiment as it is shown alone to the caller: with its queue position, its wait reason, and when it is expected to
 * start.
 */
export async function experimentDetail(
  deps: { store: Store },
  experiment: Experiment,
  caller: Pick<Caller, 'project'>,
): Promise<ExperimentDetail> {
  const { store } = deps;
  if (experiment.state !== 'queued') {
    const [shown] = await withSilence(deps, [experiment]);
    return { ...shown!, position: null, waitReason: null, estimate: null, noEstimate: null };
  }
  const [{ rank, length }, note] = await Promise.all([
    store.queue.position(experiment.id),
    store.queue.get(experiment.id),
  ]);
  const position = rank === null ? null : { rank, length };
  if (note === undefined)
    return { ...experiment, position, waitReason: null, estimate: null, noEstimate: null };
  const seen = seenWords(store, caller);
  const { estimate, noEstimate } = estimateFields(note);
  return {
    ...experiment,
    position,
    estimate,
    waitReason: await seen(note.reason),
    noEstimate: await seen(noEstimate),
  };
}
