import type { Ended, NumberedEvent } from '../core/events.ts';
import type { LaunchPlan } from '../core/launch-plan.ts';
import type { NodeHealth } from '../core/node-health.ts';
import type { NodeBundle, NodeUse } from '../core/node-states.ts';

/*
 * The client repeats a call only if proto/ declares it idempotent. It never repeats a stream: the caller resumes it
 * with the last recorded sequence number.
 */

/** One node as Ray reports it now. */
interface NodeReport {
  id: string;
  address: string;
  alive: boolean;
  cpusTotal: number;
  gpusTotal: number;
  cpusAvailable: number;
  gpusAvailable: number;
  /** Ray drains the node. `remainingMs`: until it is terminated; null: without a deadline. Null: it is not drained. */
  draining: { remainingMs: number | null } | null;
  /** What is in use there, by Ray job; null: the ray-worker does not say. */
  uses: NodeUse[] | null;
  /** Ray's labels of the node. */
  labels?: Record<string, string>;
  /** Absent: nothing is known yet, or the ray-worker does not say. */
  health?: NodeHealth;
}

/** The ray-worker and the resources of its cluster. */
export interface RayWorkerDescription {
  version: string;
  /** Changes when the ray-worker's state directory is created again. */
  generation: string;
  /** Empty if the ray-worker runs without Ray. */
  rayVersion: string;
  pythonVersion: string;
  nodeId: string;
  sharedRoot: string;
  nodes: NodeReport[];
  engines: string[];
  /** The versions of launch plans that it runs; none: it is older than these versions. */
  specVersions: number[];
  freeDiskBytes: number;
  /** When the process that answers began to serve, ms since 1970: another value is another process. 0: it does not say. */
  startedAt: number;
}

/** The answer to a launch. */
export type LaunchOutcome =
  | { outcome: 'started' | 'already-running' | 'already-ended' }
  | { outcome: 'fenced'; fencingAttempt: number; reason: string };

/** The answer to a stop. `dropped`: the attempt was unknown, and only its tombstone was written. */
export interface StopOutcome {
  dropped: boolean;
  ended: Ended | null;
}

/** An attempt as the ray-worker knows it. */
export interface AttemptStatus {
  experiment: string;
  attempt: number;
  running: boolean;
  lastSequence: number;
  launchedAt: number;
  ended: Ended | null;
  tombstone: boolean;
}

/** One finding of a preflight. `remedy` is empty if there is nothing to do. */
export interface RayWorkerFinding {
  check: string;
  severity: 'ok' | 'warning' | 'error';
  message: string;
  remedy: string;
}

/** The ray-worker of one cluster. Every method throws {@link RayWorkerError} and nothing else. */
export interface RayWorkerClient {
  describe(signal?: AbortSignal): Promise<RayWorkerDescription>;
  /** Starts the attempt at most once, however often it is called. */
  launch(experiment: string, attempt: number, plan: LaunchPlan, signal?: AbortSignal): Promise<LaunchOutcome>;
  /**
   * The attempt's events with sequence > `after`, in order, until its `ended` event was yielded. Reads no further
   * ahead than a few messages of what its consumer has taken. Aborting `signal` ends it without an error.
   */
  attach(
    experiment: string,
    attempt: number,
    after: number,
    signal: AbortSignal,
  ): AsyncIterable<NumberedEvent>;
  /** Returns once the driver and its children are gone, or the tombstone is on disk. `gracePeriodMs` 0: the plan's. */
  stop(
    experiment: string,
    attempt: number,
    options: { gracePeriodMs: number; reason: string },
    signal?: AbortSignal,
  ): Promise<StopOutcome>;
  /** Deletes the data of an experiment's attempts up to this one, which must have ended and be recorded. Idempotent. */
  forget(experiment: string, attempt: number, signal?: AbortSignal): Promise<{ forgotten: number }>;
  /** The attempts known there (of one experiment, where given), newest first. */
  list(experiment?: string, signal?: AbortSignal): Promise<AttemptStatus[]>;
  /** Replaces what the ray-worker asks its cluster's autoscaler for. A ray-worker of an older version ignores it. */
  autoscale(bundles: readonly NodeBundle[], signal?: AbortSignal): Promise<void>;
  /** Findings on a launch of the plan now: faults, hangs and ignored values. Null: findings on the cluster alone. */
  preflight(plan: LaunchPlan | null, deadlineMs: number, signal?: AbortSignal): Promise<RayWorkerFinding[]>;
  close(): void;
}
