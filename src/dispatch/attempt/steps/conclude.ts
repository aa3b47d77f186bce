import type { EndDecision } from '../../../store/attempts/types.ts';
import { type AttemptContext, settle } from '../context.ts';
import { isLeaseLost } from '../faults.ts';
import { type Interrupted, NEXT, repeat, type Stale } from '../step.ts';
import { stopHigher } from './stale.ts';

/** The state to which the attempt's end led; null: the dispatcher gave up the attempt before its end. */
export type AttemptOutcome = EndDecision['to'] | null;

/** Records the decision about the attempt's end. */
export async function conclude(context: AttemptContext, decision: EndDecision): Promise<AttemptOutcome> {
  const result = await recordEnd(context, decision);
  if (result.kind !== 'recorded') return await leave(context, result);
  const { experiment, attempt } = context.lease;
  const { to, reason } = decision;
  context.deps.log.info({ experiment, attempt, to, reason }, 'the attempt is over');
  return to;
}

function recordEnd(context: AttemptContext, decision: EndDecision) {
  const { deps, lease, leaseLost } = context;
  const end = async () =>
    ({ kind: 'recorded', state: await deps.store.attempts.end(lease, decision) }) as const;
  return repeat(context, 'record the end', end, { signal: leaseLost.signal });
}

/**
 * Queues an experiment whose record is stale. If the cluster's highest attempt was launched, the next attempt gets its
 * number: the launch then answers that it runs or has ended, so it is followed and nothing is launched twice.
 */
export async function requeue(
  context: AttemptContext,
  { highest, launched }: Omit<Stale, 'kind'>,
): Promise<AttemptOutcome> {
  const { experiment, attempt } = context.lease;
  const known = `the cluster knows attempt ${highest} of this experiment, the record only attempt ${attempt}`;
  const words = `${known} (was the store restored from an older copy?)`;
  context.deps.log.warn({ experiment, attempt, highest }, words);
  const reason = `${words}; it continues from there`;
  const attemptsAbove = launched ? highest - 1 : highest;
  const result = await recordEnd(context, { to: 'queued', reason, attemptsAbove });
  if (result.kind !== 'recorded') return await leave(context, result);
  if (result.state !== 'cancelling') return 'queued';
  // A cancel came first: the running attempt must be gone before the cancel is recorded.
  const options = { gracePeriodMs: 0, reason: 'the experiment was cancelled' };
  const stopped = await repeat(context, 'stop higher attempts', async () => {
    await stopHigher(context, options, context.yielded);
    return NEXT;
  });
  if (stopped.kind !== 'next') return await leave(context, stopped);
  return await conclude(context, { to: 'cancelled', reason: `cancelled; ${words}` });
}

/** Leaves the attempt as it is. After a fault its lease expires, and the dispatcher that takes it over tries again. */
export async function leave(context: AttemptContext, why: Interrupted): Promise<null> {
  if (why.kind === 'yielded' || context.yielded.aborted) return null;
  const { deps, lease } = context;
  const { experiment, attempt } = lease;
  if (isLeaseLost(why.error))
    deps.log.warn({ experiment, attempt }, 'the lease is lost: another dispatcher has the attempt');
  else {
    await settle(context);
    deps.log.error({ experiment, attempt, err: why.error }, 'the attempt was left because of a fault');
  }
  return null;
}
