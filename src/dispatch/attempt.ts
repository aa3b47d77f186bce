import type { Ended } from '../core/events.ts';
import type { State } from '../core/states.ts';
import type { LaunchPlan, RayWorkerClient, StopOutcome } from '../rpc/ray-worker.ts';
import { RayWorkerError } from '../rpc/status.ts';
import type { ResolvedSpec } from '../schemas/spec.ts';
import type { Crash } from '../store/limits-store.ts';
import type { EndDecision, Lease, Store } from '../store/store.ts';
import { type Backoff, createBackoff } from './backoff.ts';
import { decide, lostAttempt, QUARANTINE_AFTER, quarantine } from './decide.ts';
import { isLeaseLost, isPassing, whyUnfollowable } from './faults.ts';
import { groupEvents } from './group-events.ts';
import type { Log } from './log.ts';
import { findHigher, Outrun } from './outrun.ts';

/*
 * The story of one attempt, top to bottom: fence what came before, launch, confirm, follow the events to the end,
 * decide. It can be left at any line: by a lost lease (nothing more is touched), by a hand-over (at an event's
 * boundary), by the death of the process. Whoever holds the lease next enters it again from what the store knows.
 */

/** Where tests cut in. */
export interface AttemptHooks {
  beforeLaunch?(lease: Lease): Promise<void>;
  afterLaunch?(lease: Lease): Promise<void>;
}

/** What every attempt's story needs. */
export interface AttemptDeps {
  store: Pick<Store, 'get' | 'attempts' | 'confirm' | 'append' | 'end'>;
  rayWorkerOf(cluster: string): Promise<RayWorkerClient>;
  compile(spec: ResolvedSpec['spec']): LaunchPlan;
  log: Log;
  hooks: AttemptHooks;
  retry: { firstMs: number; longestMs: number };
  /** How long the next attempt waits after one that was lost; see `RETRY_WAIT`. */
  again?: { firstMs: number; longestMs: number } | undefined;
}

/** Where the story is entered: a fresh claim, or an attempt taken over. */
export interface Entry {
  lease: Lease;
  cluster: string;
  state: State;
  /** Launch was answered before; then the attempt is only followed. */
  confirmed: boolean;
  lastSequence: number;
  /** It was taken from a dispatcher that let its lease expire. */
  takenOver: boolean;
  /** Crashes of ours in a row that it may have caused. */
  crashes: readonly Crash[];
}

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
  /** Stops at the next boundary between two events; a launch under way is waited for. */
  handOver(): void;
  /** Resolves when the launch was confirmed, or the story ended before. */
  readonly placed: Promise<void>;
  /** Never rejects. */
  readonly done: Promise<Outcome>;
}

interface Story extends Entry {
  deps: AttemptDeps;
  /** Aborts when the lease is lost: nothing may be touched any more. */
  lost: AbortSignal;
  /** Aborts when the lease is lost or the attempt is handed over. */
  left: AbortSignal;
  cancelling: AbortController;
  /** Aborts when the driver is to be ended: while cancelling, or at a limit. */
  stopping: AbortController;
  /** Why, where it is for a limit. */
  limitReached: string | null;
}

interface Terms {
  plan: LaunchPlan;
  engine: string;
  maxAttempts: number;
  supervisorsLost: number;
}

/** The story was left; not a failure. */
class Left extends Error {}

/** The launch ended the ray-worker again and again. */
class Poison extends Error {}

/** The launch can never succeed. */
class Refused extends Error {}

/** Tries of a launch on a cluster without disk or processes to spare, before the attempt is given up. */
const EXHAUSTED_TRIES = 5;

/** Begins to tell the story of an attempt whose lease is ours. */
export function runAttempt(deps: AttemptDeps, entry: Entry): AttemptRun {
  const lost = new AbortController();
  const left = new AbortController();
  const placed = Promise.withResolvers<void>();
  const story: Story = {
    ...entry,
    deps,
    lost: lost.signal,
    left: AbortSignal.any([lost.signal, left.signal]),
    cancelling: new AbortController(),
    stopping: new AbortController(),
    limitReached: null,
  };
  if (entry.state === 'cancelling') cancelStory(story);
  return {
    lease: entry.lease,
    cancel: () => cancelStory(story),
    limit(reason) {
      story.limitReached = reason;
      story.stopping.abort();
    },
    drop: () => lost.abort(),
    handOver: () => left.abort(),
    placed: placed.promise,
    done: tell(story, placed.resolve).finally(placed.resolve),
  };
}

function cancelStory(story: Story): void {
  story.cancelling.abort();
  story.stopping.abort();
}

async function tell(story: Story, markPlaced: () => void): Promise<Outcome> {
  const { deps, lease } = story;
  const { experiment, attempt } = lease;
  try {
    if (story.crashes.length >= QUARANTINE_AFTER) return await putInQuarantine(story);
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
      decide(ended, { ...terms, attempt, cancelling, limitReached, ...(deps.again && { wait: deps.again }) }),
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
    else deps.log.error({ experiment, attempt, err: error }, 'the attempt was left because of a fault');
    return null;
  }
}

/** What the record says about this experiment's launch, and whether it still is to be launched. */
async function readTerms(story: Story): Promise<Terms> {
  const { deps, lease } = story;
  const record = await insist(story, 'read the record', () => deps.store.get(lease.experiment));
  if (record === undefined || record.attempt !== lease.attempt) throw new Left();
  if (record.state === 'cancelling') cancelStory(story);
  const spec = record.resolved as ResolvedSpec['spec'];
  const attempts = await insist(story, 'read the attempts', () => deps.store.attempts(lease.experiment));
  // What was stopped in good order does not count against the training.
  const earlier = attempts.filter((one) => one.attempt < lease.attempt);
  const endedBy = (cause: Ended['cause']) => earlier.filter((one) => one.ended?.cause === cause).length;
  try {
    return {
      plan: deps.compile(spec),
      engine: spec.engine,
      maxAttempts: spec.maxAttempts + endedBy('stopped'),
      supervisorsLost: endedBy('supervisor-lost'),
    };
  } catch (error) {
    throw new Refused(`the spec cannot be launched: ${messageOf(error)}`);
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

/**
 * Launches and confirms. Returns null where there is something to follow or to stop, the end where there is not. A
 * hand-over does not break off a launch under way, since one left unconfirmed costs an attempt; but none is begun.
 */
async function launch(story: Story, { plan }: Terms): Promise<Ended | null> {
  const { deps, lease, lost, stopping } = story;
  const { experiment, attempt } = lease;
  if (!stopping.signal.aborted) await deps.hooks.beforeLaunch?.(lease);
  const given = AbortSignal.any([lost, stopping.signal]);
  const backoff = createBackoff(deps.retry);
  /** Processes that answered after a launch that had none: their starts. */
  const restarts = new Set<number>();
  for (let exhausted = 0; !given.aborted && !story.left.aborted; ) {
    try {
      const client = await deps.rayWorkerOf(story.cluster);
      const answer = await client.launch(experiment, attempt, plan, given);
      if (answer.outcome === 'fenced') {
        await refuseIfOutrun(story);
        return notStarted(`fenced by attempt ${answer.fencingAttempt}: ${answer.reason}`);
      }
      await deps.hooks.afterLaunch?.(lease);
      deps.log.info({ experiment, attempt, outcome: answer.outcome }, 'the attempt is launched');
      await confirm(story);
      return null;
    } catch (error) {
      if (!(error instanceof RayWorkerError)) throw error;
      if (error.fault === 'invalid') throw new Refused(error.message);
      if (error.fault === 'exhausted' && ++exhausted >= EXHAUSTED_TRIES)
        return await giveUp(story, notStarted(error.message));
      if (error.fault !== 'aborted')
        deps.log.warn({ experiment, attempt, err: error }, 'the launch is not confirmed; it is tried again');
      await backoff.wait(AbortSignal.any([given, story.left]));
      if (error.fault === 'unreachable') await watchRestarts(story, restarts, given);
    }
  }
  if (story.left.aborted) throw new Left();
  return null;
}

/**
 * After a launch without an answer: waits for the ray-worker, and notes whether it is another process than after the last
 * one. Throws {@link Poison} where it was so again and again; that may be this launch's doing.
 */
async function watchRestarts(story: Story, seen: Set<number>, given: AbortSignal): Promise<void> {
  const { experiment, attempt } = story.lease;
  const signal = AbortSignal.any([given, story.left]);
  const reach = async () => await (await story.deps.rayWorkerOf(story.cluster)).describe(signal);
  const answer = await insist(story, 'reach the ray-worker', reach, signal).catch((error) => {
    if (error instanceof Left) return null;
    throw error;
  });
  if (answer === null || answer.startedAt === 0) return;
  seen.add(answer.startedAt);
  if (seen.size <= QUARANTINE_AFTER) return;
  const message = `quarantined after ${QUARANTINE_AFTER} crashes: the ray-worker of ${story.cluster} was lost at each launch of attempt ${attempt}`;
  story.deps.log.error({ experiment, attempt }, message);
  await giveUp(story, notStarted(message));
  throw new Poison(message);
}

async function confirm(story: Story): Promise<void> {
  const { store } = story.deps;
  const state = await insist(story, 'confirm the launch', () => store.confirm(story.lease), story.lost);
  story.confirmed = true;
  if (state === 'cancelling') cancelStory(story);
}

/** Records the attempt's events until it has ended, and ends it where it is to be stopped. */
async function followToEnd(story: Story, terms: Terms): Promise<Ended> {
  const over = new AbortController();
  const signal = AbortSignal.any([story.left, over.signal]);
  // Where nothing was confirmed there may be nothing to follow; the stop's answer tells.
  const unknown = !story.confirmed;
  const stopped = stopWhenTold(story, terms, signal);
  try {
    if (unknown && (await stopped)?.dropped) return neverStarted();
    const pump = follow(story, signal);
    pump.catch(() => {});
    const answer = stopped.then((stop) => (stop?.dropped ? neverStarted() : pump));
    return await Promise.race([pump, answer]);
  } finally {
    over.abort();
    stopped.catch(() => {});
  }
}

/** Waits until the driver is to be stopped, then ends it. Null: `signal` came first. */
async function stopWhenTold(story: Story, { plan }: Terms, signal: AbortSignal): Promise<StopOutcome | null> {
  const { experiment, attempt } = story.lease;
  await aborted(AbortSignal.any([signal, story.stopping.signal]));
  if (signal.aborted) {
    if (story.left.aborted) throw new Left();
    return null;
  }
  story.deps.log.info({ experiment, attempt }, 'the attempt is being stopped');
  const reason = story.limitReached ?? 'the experiment was cancelled';
  const options = { gracePeriodMs: plan.gracePeriodMs, reason };
  return await insist(
    story,
    'stop the attempt',
    async () => {
      const client = await story.deps.rayWorkerOf(story.cluster);
      const stop = await client.stop(experiment, attempt, options, signal);
      await stopHigher(story, options, signal);
      return stop;
    },
    signal,
  );
}

/** Throws {@link Outrun} where the cluster knows a higher attempt than this one. */
async function refuseIfOutrun(story: Story): Promise<void> {
  const { experiment, attempt } = story.lease;
  const higher = await insist(story, 'ask for higher attempts', async () => {
    const client = await story.deps.rayWorkerOf(story.cluster);
    return await findHigher(client, { experiment, attempt }, story.left);
  });
  if (higher) throw new Outrun(higher, attempt);
}

/** Ends what runs under a higher number than the record knows: a cancelled experiment leaves nothing behind. */
async function stopHigher(
  story: Story,
  options: { gracePeriodMs: number; reason: string },
  signal: AbortSignal,
): Promise<void> {
  const { experiment, attempt } = story.lease;
  const client = await story.deps.rayWorkerOf(story.cluster);
  const higher = await findHigher(client, { experiment, attempt }, signal);
  if (higher?.running) await client.stop(experiment, higher.highest, options, signal);
}

/**
 * Ends an experiment that ended those who had it in hand. Its events are not read, nor its plan compiled: that may be what
 * did it.
 */
async function putInQuarantine(story: Story): Promise<Outcome> {
  const { lease, deps, crashes } = story;
  const { experiment, attempt } = lease;
  deps.log.error({ experiment, attempt, crashes }, 'the experiment is quarantined');
  await insist(story, 'stop a quarantined experiment', async () => {
    const client = await deps.rayWorkerOf(story.cluster);
    await client.stop(experiment, attempt, { gracePeriodMs: 0, reason: 'quarantined' }, story.left);
  });
  return await conclude(
    story,
    story.state === 'cancelling' ? { to: 'cancelled', reason: 'cancelled' } : quarantine(crashes),
  );
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

/** Pumps events into the store, over as many streams as it takes. Returns how the driver ended. */
async function follow(story: Story, signal: AbortSignal): Promise<Ended> {
  const { deps, lease } = story;
  const { experiment, attempt } = lease;
  const backoff = createBackoff(deps.retry);
  let after = story.lastSequence;
  for (let streams = story.takenOver ? 1 : 0; !signal.aborted; streams += 1) {
    const stream = new AbortController();
    try {
      if (streams > 0) {
        // What was recorded is asked for and not remembered: an append whose answer was lost may have counted.
        const known = (await deps.store.attempts(experiment)).find((item) => item.attempt === attempt);
        if (known?.ended) return known.ended;
        after = known?.lastSequence ?? after;
      }
      const client = await deps.rayWorkerOf(story.cluster);
      const events = client.attach(experiment, attempt, after, AbortSignal.any([signal, stream.signal]));
      const ended = await record(story, events, backoff);
      if (ended) return ended;
    } catch (error) {
      const lostBecause = whyUnfollowable(error);
      if (lostBecause !== null) return await giveUp(story, lostAttempt(lostBecause));
      if (!isPassing(error)) throw error;
      if (!signal.aborted)
        deps.log.warn({ experiment, attempt, after, err: error }, 'the event stream broke; it is resumed');
    } finally {
      stream.abort();
    }
    await backoff.wait(signal);
  }
  throw new Left();
}

async function record(
  story: Story,
  events: ReturnType<RayWorkerClient['attach']>,
  backoff: Backoff,
): Promise<Ended | null> {
  for await (const group of groupEvents(events)) {
    if (story.lost.aborted) throw new Left();
    await story.deps.store.append(story.lease, group);
    backoff.reset();
    const last = group.at(-1)?.event;
    if (last?.type === 'ended') return last;
  }
  return null;
}

/** Sees to it that the attempt does not run and never will, although nothing more can be learned of it. */
async function giveUp(story: Story, ended: Ended): Promise<Ended> {
  const { experiment, attempt } = story.lease;
  await insist(story, 'stop an attempt that cannot be followed', async () => {
    const client = await story.deps.rayWorkerOf(story.cluster);
    await client.stop(experiment, attempt, { gracePeriodMs: 0, reason: ended.message }, story.left);
  });
  return ended;
}

async function conclude(story: Story, decision: EndDecision): Promise<Outcome> {
  const { deps, lease } = story;
  const { experiment, attempt } = lease;
  await insist(story, 'record the end', () => deps.store.end(lease, decision), story.lost);
  deps.log.info({ experiment, attempt, to: decision.to, reason: decision.reason }, 'the attempt is over');
  return decision.to;
}

/** Does `work` until it succeeds, `signal` aborts (the story is left) or it fails for good. */
async function insist<T>(
  story: Story,
  what: string,
  work: () => Promise<T>,
  signal: AbortSignal = story.left,
): Promise<T> {
  const backoff = createBackoff(story.deps.retry);
  for (;;) {
    if (signal.aborted) throw new Left();
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      const { experiment, attempt } = story.lease;
      if (!signal.aborted) story.deps.log.warn({ experiment, attempt, err: error }, `cannot ${what} yet`);
      await backoff.wait(signal);
    }
  }
}

function notStarted(message: string): Ended {
  return { ...lostAttempt(message), cause: 'not-started' };
}

function neverStarted(): Ended {
  return { ...lostAttempt('it had not been launched'), cause: 'stopped' };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
