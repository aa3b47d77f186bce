import type { Lease } from '../../store/attempts/types.ts';
import { noteFault } from '../clusters/faulty-nodes.ts';
import { withAllocation } from './allocation-end.ts';
import {
  type AttemptContext,
  type AttemptEntry,
  type AttemptServices,
  cancelAttempt,
  createContext,
  type DrainedNode,
  drainAttempt,
  type Preemption,
  preemptAttempt,
  settle,
  stopForLimit,
} from './context.ts';
import { decide } from './decide.ts';
import { type Ending, NEXT, readTerms, repeat, type StepResult, type Terms } from './step.ts';
import { type AttemptOutcome, conclude, leave, requeue } from './steps/conclude.ts';
import { awaitEnd, follow } from './steps/follow.ts';
import { launch } from './steps/launch.ts';
import { checkStale } from './steps/stale.ts';
import { gracePeriodOf, stopOnRequest } from './steps/stop.ts';

/*
 * The lifecycle of one attempt: fence earlier attempts, launch, follow the events to the end, conclude. A dispatcher
 * can yield it between any two lines; the dispatcher that takes it over begins again with what the store knows.
 */

/** An attempt whose lease this dispatcher has. */
export interface AttemptRun {
  readonly lease: Lease;
  readonly cluster: string;
  /** The experiment is being cancelled: stops the driver. */
  cancel(): void;
  /** A timeout or deadline was reached: stops the driver; the experiment fails for `reason`. */
  limit(reason: string): void;
  /** The drained nodes of its cluster: it leaves those on which it runs, see `drainAttempt`. */
  drain(nodes: readonly DrainedNode[]): void;
  /** It is to make room for another experiment, or no more (null); see `preemptAttempt`. */
  preempt(preemption: Preemption | null): void;
  /** The lease is lost: ends everything at once. */
  drop(): void;
  /** The lease was renewed. An attempt that was held for longer than a lease is settled. */
  renewed(leaseMs: number): void;
  /** Yields the attempt between two events, or after a launch under way. */
  handOver(): void;
  /** Resolves when the launch is confirmed, or the lifecycle ends before that. */
  readonly placed: Promise<void>;
  /** Never rejects. */
  readonly done: Promise<AttemptOutcome>;
}

/** Begins the lifecycle of an attempt whose lease this dispatcher has just got. */
export function runAttempt(deps: AttemptServices, entry: AttemptEntry): AttemptRun {
  const context = createContext(deps, entry);
  const placed = Promise.withResolvers<void>();
  const begunAt = performance.now();
  const done = lifecycle(context, placed.resolve)
    .catch((error: unknown) => leave(context, { kind: 'fault', error }))
    .finally(placed.resolve);
  return {
    lease: entry.lease,
    cluster: entry.cluster,
    cancel: () => cancelAttempt(context),
    limit: (reason) => stopForLimit(context, reason),
    drain: (nodes) => drainAttempt(context, nodes),
    preempt: (preemption) => preemptAttempt(context, preemption),
    drop: () => context.leaseLost.abort(),
    renewed(leaseMs) {
      if (performance.now() - begunAt > leaseMs) void settle(context);
    },
    handOver: () => context.handedOver.abort(),
    placed: placed.promise,
    done,
  };
}

/** Runs the steps, and decides what their result means for the experiment. */
async function lifecycle(context: AttemptContext, markPlaced: () => void): Promise<AttemptOutcome> {
  const { deps, lease, quarantine } = context;
  const { experiment, attempt } = lease;
  if (quarantine) deps.log.error({ experiment, attempt, reason: quarantine.reason }, 'in quarantine');
  const read = await readTerms(context);
  if (read.kind !== 'terms') return await leave(context, read);
  const { terms } = read;
  context.nodes = terms.nodes;
  context.gracePeriodMs = () => gracePeriodOf(context, terms);
  const result = await runSteps(context, terms, markPlaced);
  switch (result.kind) {
    case 'ended': {
      const ended = await withAllocation(context, result.ended);
      const outcome = await conclude(context, {
        ended,
        ...decide(ended, {
          ...terms,
          attempt,
          engine: terms.spec.engine,
          maxAttempts: terms.spec.maxAttempts,
          maxClusterFaults: terms.spec.maxClusterFaults,
          cancelling: context.cancelling.signal.aborted,
          limitReached: context.limitReached,
          quarantine: quarantine?.reason ?? null,
          ...(deps.again && { wait: deps.again }),
        }),
      });
      if (outcome !== null) await noteFault(deps, { ...context, ended });
      return outcome;
    }
    case 'refused': {
      const { reason, quarantined } = result;
      return await conclude(context, { to: 'failed', reason, ...(quarantined && { quarantined }) });
    }
    case 'stale':
      return await requeue(context, result);
    case 'yielded':
    case 'fault':
      return await leave(context, result);
  }
}

/** The steps from a lease to the attempt's end. Each of them returns its result, and never rejects. */
async function runSteps(context: AttemptContext, terms: Terms, markPlaced: () => void): Promise<Ending> {
  const fenced = await fence(context);
  if (fenced.kind !== 'next') return fenced;
  const launched = context.confirmed ? NEXT : await launch(context, terms);
  markPlaced();
  if (launched.kind !== 'next') return launched;
  const ended = await followToEnd(context);
  // A stop that this dispatcher did not request: a higher attempt may have taken this one's place.
  const unexpected =
    ended.kind === 'ended' && ended.ended.cause === 'stopped' && !context.stopping.signal.aborted;
  return unexpected ? await checkStale(context, ended) : ended;
}

/** Follows the attempt to its end, and stops its driver on request. */
async function followToEnd(context: AttemptContext): Promise<Ending> {
  const over = new AbortController();
  const signal = AbortSignal.any([context.yielded, over.signal]);
  const stopped = stopOnRequest(context, signal);
  // An unconfirmed attempt may never have been launched: the answer to its stop says so.
  const early = context.confirmed ? NEXT : await stopped;
  if (early.kind !== 'next') return early;
  const ended = context.quarantine?.unreadable ? awaitEnd(context, signal) : follow(context, signal);
  const either = stopped.then((stop) => (stop.kind === 'next' ? ended : stop));
  const result = await Promise.race([ended, either]);
  over.abort();
  return result;
}

/**
 * Makes sure that no earlier attempt runs. The store has the end of every earlier attempt, but a store that was restored
 * from a backup may have been wrong. The launch itself fences the launches of earlier attempts that are still under way.
 */
async function fence(context: AttemptContext): Promise<StepResult> {
  const { experiment, attempt } = context.lease;
  if (attempt === 1 || context.confirmed) return NEXT;
  const options = { gracePeriodMs: 0, reason: `attempt ${attempt} takes its place` };
  return await repeat(context, 'fence earlier attempts', async () => {
    const client = await context.rayWorker();
    for (const known of await client.list(experiment, context.yielded))
      if (known.running && known.attempt < attempt)
        await client.stop(experiment, known.attempt, options, context.yielded);
    return NEXT;
  });
}
