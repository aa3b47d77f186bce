import type { Ended, NumberedEvent } from '../core/events.ts';
import type { LaunchPlan } from '../core/launch-plan.ts';

/*
 * What always holds: a call is repeated by the client only where proto/ declares it idempotent; a stream is never
 * repeated, it is resumed by its caller with the last sequence number that was recorded.
 */

/** One node as Ray reports it now. */
export interface NodeReport {
  id: string;
  address: string;
  alive: boolean;
  cpusTotal: number;
  gpusTotal: number;
  cpusAvailable: number;
  gpusAvailable: number;
}

/** Who answers, and what the cluster has. */
export interface RayWorkerDescription {
  version: string;
  /** Changes when the ray-worker's state directory was made anew. */
  generation: string;
  /** Empty where the ray-worker runs without Ray. */
  rayVersion: string;
  pythonVersion: string;
  nodeId: string;
  sharedRoot: string;
  nodes: NodeReport[];
  engines: string[];
  freeDiskBytes: number;
  /** When the process that answers began to serve, ms since 1970: another value is another process. 0: it does not say. */
  startedAt: number;
}

/** The answer to a launch. */
export type LaunchOutcome =
  | { outcome: 'started' | 'already-running' | 'already-ended' }
  | { outcome: 'fenced'; fencingAttempt: number; reason: string };

/** The answer to a stop: `dropped` where the attempt was unknown and only its tombstone was written. */
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

/** One answer of a preflight; `remedy` is empty where there is nothing to do. */
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
  /** Deletes what is kept there of the attempts up to one, all of which have ended and are recorded. May be repeated. */
  forget(experiment: string, attempt: number, signal?: AbortSignal): Promise<{ forgotten: number }>;
  /** The attempts known there (of one experiment, where given), newest first. */
  list(experiment?: string, signal?: AbortSignal): Promise<AttemptStatus[]>;
  /** What would fail, hang or be ignored if the plan were launched now; null: what is to be said of the cluster. */
  preflight(plan: LaunchPlan | null, deadlineMs: number, signal?: AbortSignal): Promise<RayWorkerFinding[]>;
  close(): void;
}
