import { once } from 'node:events';
import { shortNode } from 'echelon-client/short-node';
import type { AttemptContext } from '../context.ts';
import { neverStarted } from '../decide.ts';
import { type Interrupted, NEXT, repeat, type StepResult, type Terms, YIELDED } from '../step.ts';
import { stopHigher } from './stale.ts';

/**
 * Waits until the driver must be stopped, and stops it within its grace period. Next: it ends, and its events say how.
 * `signal` ends the step, because the attempt has ended by itself.
 */
export async function stopOnRequest(context: AttemptContext, signal: AbortSignal): Promise<StepResult> {
  const { experiment, attempt } = context.lease;
  const either = AbortSignal.any([signal, context.stopping.signal]);
  if (!either.aborted) await once(either, 'abort');
  if (signal.aborted) return YIELDED;
  context.deps.log.info({ experiment, attempt }, 'the attempt is being stopped');
  const reason = context.limitReached ?? leaveInWords(context) ?? 'the experiment was cancelled';
  const options = { gracePeriodMs: context.gracePeriodMs(), reason };
  const stop = async () => {
    const client = await context.rayWorker();
    const { dropped } = await client.stop(experiment, attempt, options, signal);
    await stopHigher(context, options, signal);
    return dropped ? ({ kind: 'ended', ended: neverStarted() } as const) : NEXT;
  };
  return await repeat(context, 'stop the attempt', stop, { signal });
}

/** Why an attempt leaves its nodes; null: it does not. */
function leaveInWords({ drained, preempted, cancelling }: AttemptContext): string | null {
  if (cancelling.signal.aborted) return null;
  if (drained === null) return preempted?.reason ?? null;
  return `it leaves node ${shortNode(drained.node)}: ${drained.reason}`;
}

/** 0 if the spec cannot be compiled any more, or compiling it may have ended dispatchers. */
export function gracePeriodOf({ deps, quarantine }: AttemptContext, { spec }: Pick<Terms, 'spec'>): number {
  if (quarantine) return 0;
  try {
    return deps.compile(spec).gracePeriodMs;
  } catch {
    return 0;
  }
}

/** Makes sure that an attempt which cannot be launched or followed does not run and will not run; then `result`. */
export function discard<Result>(
  context: AttemptContext,
  reason: string,
  result: Result,
): Promise<Result | Interrupted> {
  const { experiment, attempt } = context.lease;
  return repeat(context, 'stop an attempt that cannot be followed', async () => {
    const client = await context.rayWorker();
    await client.stop(experiment, attempt, { gracePeriodMs: 0, reason }, context.yielded);
    return result;
  });
}
