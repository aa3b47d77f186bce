import type { Ended } from '../../core/events.ts';
import type { LaunchPlan } from '../../rpc/ray-worker.ts';
import { RayWorkerError } from '../../rpc/status.ts';
import type { ResolvedSpec } from '../../schemas/spec.ts';
import type { EndDecision, Lease } from '../../store/attempts/contract.ts';
import { createBackoff } from './backoff.ts';
import { decide, neverStarted, notStarted } from './decide.ts';
import { isLeaseLost } from './faults.ts';
import { follow } from './follow.ts';
import { Outrun, refuseIfOutrun, stopHigher } from './outrun.ts';
import { awaitEnd, quarantineOf } from './quarantine.ts';
import { type Restarts, watchRestarts } from './restarts.ts';
import { giveUp, stopWhenTold } from './stopping.ts';
import {
  type AttemptDeps,
  cancelStory,
  type Entry,
  insist,
  Left,
  Poison,
  Refused,
  type Story,
  settle,
} from './story.ts';

/*
 * The story of one attempt, top to bottom: fence what came before, launch, confirm, follow the events to the end,
 * decide. It can be left at any line: by a lost lease (nothing more is touched), by a hand-over (at an event's
 * boundary), by the death of the process. Whoever holds the lease next enters it again from what the store knows.
 *
 * Told elsewhere: how events are read (follow.ts), how a driver is ended (stopping.ts), what a launch does to a ray-worker
 * (restarts.ts), what a cluster knows above the record (outrun.ts).
 */

/** What the story led to; null: it was left (lease lost, or handed over). */
export type Outcome = EndDecision['to'] | null;

/** An attempt in our hands. */
export interface AttemptRun {
  readonly lease: Lease;
  /** Its experiment is being cancelled: ends the driver. */
  cancel(): void;
  /** It must not go on, because of its timeout or its deadline: ends the driver; the experiment has failed. */
  limit(reason: string): void;
  /** Somebody else holds the lease, or nobody: everything stops at once. */
  drop(): void;
  /** Its lease was renewed. Held for longer than a lease, it is settled. */
  renewed(leaseMs: number): void;
  /** Stops at the next boundary between two events; a launch under way is waited for. */
  handOver(): void;
  /** Resolves when the launch was confirmed, or the story ended before. */
  readonly placed: Promise<void>;
  /** Never rejects. */
  readonly done: Promise<Outcome>;
}

interface Terms {
  spec: ResolvedSpec['spec'];
  engine: string;
  maxAttempts: number;
  uncounted: number;
  supervisorsLost: number;
}

/** Tries of a launch on a cluster without disk or processes to spare, before the attempt is given up. */
const EXHAUSTED_TRIES = 5;

/** Begins to tell the story of an attempt whose lease is ours. */
export function runAttempt(deps: AttemptDeps, entry: Entry): AttemptRun {
  const lost = new AbortController();
  const left = new AbortController();
  const placed = Promise.withResolvers<void>();
  const begunAt = performance.now();
  const quarantine = quarantineOf(entry.crashes);
  const story: Story = {
    ...entry,
    deps,
    lost: lost.signal,
    left: AbortSignal.any([lost.signal, left.signal]),
    cancelling: new AbortController(),
    stopping: new AbortController(),
    limitReached: null,
    quarantine,
    settled: quarantine?.unreadable === true, // it is taken as one that does no harm
  };
  // Nothing is known to run: it is stopped, and the events of a driver that was launched all the same are recorded.
  if (quarantine && !entry.confirmed) endForLimit(story, quarantine.reason);
  if (entry.state === 'cancelling') cancelStory(story);
  return {
    lease: entry.lease,
    cancel: () => cancelStory(story),
    limit: (reason) => endForLimit(story, reason),
    drop: () => lost.abort(),
    renewed(leaseMs) {
      if (performance.now() - begunAt > leaseMs) void settle(story);
    },
    handOver: () => left.abort(),
    placed: placed.promise,
    done: tell(story, placed.resolve).finally(placed.resolve),
  };
}

function endForLimit(story: Story, reason: string): void {
  story.limitReached = reason;
  story.stopping.abort();
}

async function tell(story: Story, markPlaced: () => void): Promise<Outcome> {
  const { deps, lease, quarantine } = story;
  const { experiment, attempt } = lease;
  try {
    if (quarantine) deps.log.error({ experiment, attempt, reason: quarantine.reason }, 'in quarantine');
    await fenceEarlier(story);
    const terms = await readTerms(story);
    const early = story.confirmed ? null : await launch(story, terms);
    markPlaced();
    const ended = early ?? (await followToEnd(story, terms));
    const { limitReached } = story;
    const cancelling = story.cancelling.signal.aborted;
    // Nobody who goes by this record has stopped it: a higher attempt may have taken its place.
    if (ended.cause === 'stopped' && !cancelling && limitReached === null) await refuseIfOutrun(story);
    return await conclude(
      story,
      decide(ended, {
        ...{ ...terms, attempt, cancelling, limitReached, quarantine: quarantine?.reason ?? null },
        ...(deps.again && { wait: deps.again }),
      }),
    );
  } catch (error) {
    if (error instanceof Outrun) return await goBehind(story, error).catch(() => null);
    if (error instanceof Refused)
      return await conclude(story, { to: 'failed', reason: error.message }).catch(() => null);
    if (error instanceof Poison)
      return await conclude(story, { to: 'failed', quarantined: true, reason: error.message }).catch(
        () => null,
      );
    if (error instanceof Left || story.left.aborted) return null;
    if (isLeaseLost(error))
      deps.log.warn({ experiment, attempt }, 'the lease is lost: another dispatcher has the attempt');
    // A fault of ours: the lease runs out, and whoever takes it over tries again.
    else {
      await settle(story);
      deps.log.error({ experiment, attempt, err: error }, 'the attempt was left because of a fault');
    }
    return null;
  }
}

/**
 * Makes sure that no earlier attempt runs or ever will. An earlier one may have been launched by a dispatcher that
 * never saw the answer, and several may have been given up so in a row: the tombstone covers launches that are still
 * under way, the list finds drivers that started.
 */
async function fenceEarlier(story: Story): Promise<void> {
  const { experiment, attempt } = story.lease;
  if (attempt === 1 || story.confirmed) return;
  const options = { gracePeriodMs: 0, reason: `attempt ${attempt} takes its place` };
  await insist(story, 'fence earlier attempts', async () => {
    const client = await story.deps.rayWorkerOf(story.cluster);
    if (story.takenOver) await client.stop(experiment, attempt - 1, options, story.left);
    for (const known of await client.list(experiment, story.left))
      if (known.running && known.attempt < attempt)
        await client.stop(experiment, known.attempt, options, story.left);
  });
}

/** What the record says about this experiment's launch, and whether it still is to be launched. */
async function readTerms(story: Story): Promise<Terms> {
  const { deps, lease } = story;
  const [record, attempts] = await insist(story, 'read the record', () =>
    Promise.all([deps.store.get(lease.experiment), deps.store.attempts(lease.experiment)]),
  );
  if (record === undefined || record.attempt !== lease.attempt) throw new Left();
  if (record.state === 'cancelling') cancelStory(story);
  const spec = record.resolved as ResolvedSpec['spec'];
  const earlier = attempts.filter((one) => one.attempt < lease.attempt);
  // What was stopped in good order does not count against the training, nor what we took from one another.
  const uncounted = earlier.filter((one) => one.ended?.cause === 'stopped' || one.givenUpAt !== null);
  return {
    spec,
    engine: spec.engine,
    maxAttempts: spec.maxAttempts,
    uncounted: uncounted.length,
    supervisorsLost: earlier.filter((one) => one.ended?.cause === 'supervisor-lost').length,
  };
}

function compile({ deps }: Story, { spec }: Terms): LaunchPlan {
  try {
    return deps.compile(spec);
  } catch (error) {
    throw new Refused(`the spec cannot be launched: ${messageOf(error)}`);
  }
}

/** 0, the one that the ray-worker was told, where compiling the spec fails (by now) or may have ended dispatchers. */
function gracePeriodOf(story: Story, terms: Terms): number {
  if (story.quarantine) return 0;
  try {
    return compile(story, terms).gracePeriodMs;
  } catch {
    return 0;
  }
}

/**
 * Launches and confirms. Returns null where there is something to follow or to stop, the end where there is not. A
 * hand-over does not break off a launch under way, since one left unconfirmed costs an attempt; but none is begun.
 */
async function launch(story: Story, terms: Terms): Promise<Ended | null> {
  const { deps, lease, lost, stopping } = story;
  const { experiment, attempt } = lease;
  if (stopping.signal.aborted) return null;
  const plan = compile(story, terms);
  await deps.hooks.beforeLaunch?.(lease);
  const given = AbortSignal.any([lost, stopping.signal]);
  const backoff = createBackoff(deps.retry);
  const restarts: Restarts = { startedAt: 0, charged: 0 };
  for (let exhausted = 0; !given.aborted && !story.left.aborted; ) {
    const underWay = deps.launches.begin(story.cluster);
    try {
      const client = await deps.rayWorkerOf(story.cluster);
      const answer = await client.launch(experiment, attempt, plan, given).finally(underWay.end);
      if (answer.outcome === 'fenced') {
        await refuseIfOutrun(story);
        return notStarted(`fenced by attempt ${answer.fencingAttempt}: ${answer.reason}`);
      }
      deps.log.info({ experiment, attempt, outcome: answer.outcome }, 'the attempt is launched');
      await confirm(story);
      return null;
    } catch (error) {
      underWay.end();
      if (!(error instanceof RayWorkerError)) throw error;
      void settle(story);
      if (error.fault === 'invalid') throw new Refused(error.message);
      if (error.fault === 'exhausted' && ++exhausted >= EXHAUSTED_TRIES)
        return await giveUp(story, notStarted(error.message));
      if (error.fault !== 'aborted')
        deps.log.warn({ experiment, attempt, err: error }, 'the launch is not confirmed; it is tried again');
      await backoff.wait(AbortSignal.any([given, story.left]));
      if (error.fault === 'unreachable')
        await watchRestarts(story, restarts, { given, alone: underWay.isAlone() });
    }
  }
  if (story.left.aborted) throw new Left();
  return null;
}

async function confirm(story: Story): Promise<void> {
  const { store } = story.deps;
  const state = await insist(story, 'confirm the launch', () => store.confirm(story.lease), story.lost);
  story.confirmed = true;
  story.settled = true;
  if (state === 'cancelling') cancelStory(story);
}

/** Records the attempt's events until it has ended, and ends it where it is to be stopped. */
async function followToEnd(story: Story, terms: Terms): Promise<Ended> {
  const over = new AbortController();
  const signal = AbortSignal.any([story.left, over.signal]);
  // Where nothing was confirmed there may be nothing to follow; the stop's answer tells.
  const unknown = !story.confirmed;
  const stopped = stopWhenTold(story, () => gracePeriodOf(story, terms), signal);
  try {
    if (unknown && (await stopped)?.dropped) return neverStarted();
    const pump = story.quarantine?.unreadable ? awaitEnd(story, signal) : follow(story, signal);
    pump.catch(() => {});
    const answer = stopped.then((stop) => (stop?.dropped ? neverStarted() : pump));
    return await Promise.race([pump, answer]);
  } finally {
    over.abort();
    stopped.catch(() => {});
  }
}

/** Puts the experiment back into the line, its next attempt numbered so that the cluster's own is met, not doubled. */
async function goBehind(story: Story, outrun: Outrun): Promise<Outcome> {
  const { deps, lease } = story;
  const { experiment, attempt } = lease;
  deps.log.warn({ experiment, attempt, highest: outrun.highest }, outrun.message);
  const attemptsAbove = outrun.goesOnAfter;
  const decision = {
    to: 'queued',
    reason: `${outrun.message}; it goes on from there`,
    attemptsAbove,
  } as const;
  const end = () => deps.store.end(lease, decision);
  if ((await insist(story, 'record the higher attempt', end, story.lost)) !== 'cancelling') return 'queued';
  // A cancel came first, and was promised: the attempt that runs has to go before it is recorded.
  const options = { gracePeriodMs: 0, reason: 'the experiment was cancelled' };
  await insist(story, 'stop higher attempts', () => stopHigher(story, options, story.left));
  return await conclude(story, { to: 'cancelled', reason: `cancelled; ${outrun.message}` });
}

async function conclude(story: Story, decision: EndDecision): Promise<Outcome> {
  const { deps, lease } = story;
  const { experiment, attempt } = lease;
  await insist(story, 'record the end', () => deps.store.end(lease, decision), story.lost);
  deps.log.info({ experiment, attempt, to: decision.to, reason: decision.reason }, 'the attempt is over');
  return decision.to;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
