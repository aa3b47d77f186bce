import type { State } from '../../core/states.ts';
import type { LaunchPlan, RayWorkerClient } from '../../rpc/ray-worker.ts';
import type { ResolvedSpec } from '../../schemas/spec.ts';
import type { Lease } from '../../store/attempts/contract.ts';
import type { Crash } from '../../store/attempts/limits-contract.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createBackoff } from './backoff.ts';
import { isPassing } from './faults.ts';
import type { Launches } from './launches.ts';
import type { Quarantine } from './quarantine.ts';

/*
 * What the story of an attempt (attempt.ts) and the chapters that are told elsewhere have in common: what is known, the
 * ways out of it, and the patience with which each of its steps is done.
 */

/** Where tests cut in. */
export interface AttemptHooks {
  beforeLaunch?(lease: Lease): Promise<void>;
}

/** What every attempt's story needs. */
export interface AttemptDeps {
  store: Pick<Store, 'get' | 'attempts' | 'confirm' | 'settle' | 'append' | 'end'>;
  rayWorkerOf(cluster: string): Promise<RayWorkerClient>;
  launches: Launches;
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
  /** Crashes of ours in a row with which it is charged. */
  crashes: readonly Crash[];
}

/** The story of one attempt, with what changes while it is told. */
export interface Story extends Entry {
  deps: AttemptDeps;
  /** Aborts when the lease is lost: nothing may be touched any more. */
  lost: AbortSignal;
  /** Aborts when the lease is lost or the attempt is handed over. */
  left: AbortSignal;
  cancelling: AbortController;
  /** Aborts when the driver is to be ended: while cancelling, or at a limit. */
  stopping: AbortController;
  /** Why, where it is for a limit or for a quarantine. */
  limitReached: string | null;
  /** Why it is in quarantine; null: it is not. */
  quarantine: Quarantine | null;
  /** This process has survived the launch or takeover; see {@link settle}. */
  settled: boolean;
}

/** The story was left; not a failure. */
export class Left extends Error {}

/** The launch ended the ray-worker again and again. */
export class Poison extends Error {}

/** The launch can never succeed. */
export class Refused extends Error {}

/** The experiment is being cancelled: the driver is to be ended. */
export function cancelStory(story: Story): void {
  story.cancelling.abort();
  story.stopping.abort();
}

/**
 * To be called when an exchange about the attempt came back, well or not: this process has survived its launch or
 * takeover, so a crash from now on is not charged to it. A call that fails is repeated by later ones.
 */
export async function settle(story: Story): Promise<void> {
  if (story.settled || story.lost.aborted) return;
  story.settled = true;
  const { lease, deps } = story;
  const { experiment, attempt } = lease;
  await deps.store.settle(lease).catch((error: unknown) => {
    story.settled = false;
    deps.log.warn({ experiment, attempt, err: error }, 'cannot record yet that the attempt is settled');
  });
}

/** Does `work` until it succeeds, `signal` aborts (the story is left) or it fails for good. */
export async function insist<T>(
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
      void settle(story);
      const { experiment, attempt } = story.lease;
      if (!signal.aborted) story.deps.log.warn({ experiment, attempt, err: error }, `cannot ${what} yet`);
      await backoff.wait(signal);
    }
  }
}
