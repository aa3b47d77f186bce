import { type LaunchPlan, withStored } from '../../../core/launch-plan.ts';
import { QUARANTINE_AFTER } from '../../../core/states.ts';
import { clusterProblems } from '../../../engines/registry.ts';
import type { LaunchOutcome } from '../../../rpc/ray-worker.ts';
import { RayWorkerError } from '../../../rpc/status.ts';
import { type AttemptContext, cancelAttempt, type LaunchUnderWay, settle } from '../context.ts';
import { notStarted } from '../decide.ts';
import { isRetryable } from '../faults.ts';
import { NEXT, repeat, type StepResult, type Terms } from '../step.ts';
import { checkStale } from './stale.ts';
import { discard } from './stop.ts';

/** Launches on a cluster without free disk space or processes before the attempt ends. */
const MAX_EXHAUSTED = 5;

/**
 * Launches the attempt and confirms the launch. Launches nothing if the driver must be stopped. A hand-over waits for
 * a launch under way. If it is cut short, or this dispatcher is lost, the next dispatcher repeats the launch: the ray-worker
 * carries it out once.
 */
export async function launch(
  context: AttemptContext,
  { spec, clusterEnv, allowed, otherVersion, storedCheckpoints, nodes }: Terms,
): Promise<StepResult> {
  const { deps, lease, stopping } = context;
  if (stopping.signal.aborted) return NEXT;
  // The lists of the cluster may have changed since the submission.
  const [problem] = clusterProblems(spec, allowed);
  if (problem)
    return await refuse(context, `the spec cannot be launched: ${problem.field} ${problem.message}`);
  // An attempt that was taken over may run. Repeating its launch does no harm, and says whether it does.
  if (otherVersion !== null && !context.takenOver) return await notHere(context, otherVersion);
  let plan: LaunchPlan;
  try {
    plan = withStored({ ...deps.compile(spec, clusterEnv), nodes }, storedCheckpoints);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return await refuse(context, `the spec cannot be launched: ${message}`);
  }
  await deps.hooks.beforeLaunch?.(lease);
  const signal = AbortSignal.any([context.yielded, stopping.signal]);
  const retryable = (error: unknown) => error instanceof RayWorkerError || isRetryable(error);
  const result = await repeat(context, 'launch the attempt', createLaunch(context, plan), {
    signal,
    retryable,
  });
  if (result.kind === 'launched') return await confirm(context);
  // A request to stop ended the tries: the attempt may have been launched, and is stopped next.
  if (result.kind === 'yielded' && !context.yielded.aborted) return NEXT;
  return result;
}

/** Refuses the launch for good. An earlier holder of the lease may have launched the attempt, or may still do so. */
async function refuse(context: AttemptContext, reason: string): Promise<StepResult> {
  const refused = { kind: 'refused', reason } as const;
  return context.takenOver ? await discard(context, reason, refused) : refused;
}

/** The attempt ends, by a fault of the cluster. */
function notHere(context: AttemptContext, reason: string): Promise<StepResult> {
  return discard(context, reason, { kind: 'ended', ended: notStarted(reason) });
}

/** Returns one try of the launch, which remembers what the tries before it have met. */
function createLaunch(
  context: AttemptContext,
  plan: LaunchPlan,
): () => Promise<StepResult | { kind: 'launched' }> {
  const { deps, lease, cluster } = context;
  const { experiment, attempt } = lease;
  const signal = AbortSignal.any([context.leaseLost.signal, context.stopping.signal]);
  const countLost = createRestarts(context, signal);
  let unanswered: LaunchUnderWay | undefined;
  let exhausted = 0;

  async function onFault(error: unknown, underWay: LaunchUnderWay): Promise<StepResult> {
    if (!(error instanceof RayWorkerError)) throw error;
    void settle(context);
    if (error.fault === 'invalid') return await refuse(context, error.message);
    if (error.fault === 'version' || (error.fault === 'exhausted' && ++exhausted >= MAX_EXHAUSTED))
      return await notHere(context, error.message);
    if (error.fault === 'unreachable') unanswered = underWay;
    throw error;
  }

  return async () => {
    if (unanswered && (await countLost(unanswered)) >= QUARANTINE_AFTER) {
      const reason = `quarantined after ${QUARANTINE_AFTER} crashes: the ray-worker of ${cluster} was lost at each launch of attempt ${attempt}`;
      deps.log.error({ experiment, attempt }, reason);
      return await discard(context, reason, { kind: 'refused', quarantined: true, reason });
    }
    unanswered = undefined;
    const underWay = deps.launches.begin(cluster);
    let answer: LaunchOutcome;
    try {
      const client = await context.rayWorker();
      answer = await client.launch(experiment, attempt, plan, signal);
    } catch (error) {
      return onFault(error, underWay); // not awaited here: the launch is over
    } finally {
      underWay.end();
    }
    if (answer.outcome === 'fenced') {
      const ended = notStarted(`fenced by attempt ${answer.fencingAttempt}: ${answer.reason}`);
      return await checkStale(context, { kind: 'ended', ended });
    }
    deps.log.info({ experiment, attempt, outcome: answer.outcome }, 'the attempt is launched');
    return { kind: 'launched' };
  };
}

/** Records that the attempt is launched. */
async function confirm(context: AttemptContext): Promise<StepResult> {
  const { deps, lease, leaseLost } = context;
  const record = async () => {
    const state = await deps.store.attempts.confirm(lease);
    context.confirmed = true;
    context.settled = true;
    if (state === 'cancelling') cancelAttempt(context);
    return NEXT;
  };
  return await repeat(context, 'confirm the launch', record, { signal: leaseLost.signal });
}

/**
 * Counts the ray-worker processes that were lost during the launches of one attempt. The returned function is to be
 * called after a launch without an answer. It waits for the ray-worker; a lost process counts if the launch was alone.
 */
function createRestarts(
  context: AttemptContext,
  signal: AbortSignal,
): (unanswered: LaunchUnderWay) => Promise<number> {
  let lastStart = 0;
  let lost = 0;
  return async (unanswered) => {
    const client = await context.rayWorker();
    const { startedAt } = await client.describe(AbortSignal.any([signal, context.yielded]));
    if (startedAt === 0) return lost; // a ray-worker that does not report its start
    if (lastStart !== 0 && lastStart !== startedAt && unanswered.isAlone()) lost += 1;
    lastStart = startedAt;
    return lost;
  };
}
