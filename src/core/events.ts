import type { State } from './states.ts';

/** A number as JSON can carry it: JSON has no NaN and no infinities, and a metric may be either. */
export type MetricValue = number | 'NaN' | 'Infinity' | '-Infinity';

/** Why a driver ended, by its ray-worker: `Ended.Cause`. */
export const RAY_WORKER_CAUSES = [
  'succeeded',
  'failed',
  'stopped',
  'killed',
  'out-of-memory',
  'supervisor-lost',
  'not-started',
  'node-lost',
  'cluster-failed',
  'gpus-short',
  'disk-full',
] as const;
/** The same, and what only the controller knows: why Slurm took the node of an attempt. */
export const END_CAUSES = [...RAY_WORKER_CAUSES, 'allocation-ended', 'preempted'] as const;
/** One of {@link END_CAUSES}. */
export type EndCause = (typeof END_CAUSES)[number];

/** How a driver ended. */
export interface Ended {
  type: 'ended';
  cause: EndCause;
  exitCode: number;
  signal: number;
  message: string;
  lastLines: string[];
}

/** Part `index` of `count` of a batch; its bytes are kept beside the event (in the entry, or in the archive). */
export interface BatchPartEvent {
  type: 'batch';
  /** The trainer's step. */
  step: number;
  /** The batch's number within the attempt, from 1. */
  batch: number;
  index: number;
  count: number;
  rows: number;
  /** SHA-256 of the whole serialized batch, hex. */
  digest: string;
  /** Length of this part. */
  bytes: number;
}

/** The result of one game of an evaluation. */
export interface PlayedGame {
  game: string;
  /** From 1. */
  replicate: number;
  /** 1: solved, 0: not. */
  success: number;
  score: number;
  steps: number;
  invalidSteps: number;
}

/** A checkpoint is complete in the experiment's object store. `manifest`: SHA-256 (hex) of its manifest. */
export interface StoredCheckpointEvent {
  type: 'stored';
  step: number;
  manifest: string;
}

/** Games that a checkpoint played; a large evaluation is several events in a row. */
export interface EvaluationEvent {
  type: 'evaluation';
  step: number;
  panel: string;
  /** SHA-256 (hex) over the resolved games of the panel; empty: the games were drawn. */
  digest: string;
  decoding: Record<string, string>;
  games: PlayedGame[];
}

/** What an attempt reports, in the order in which its supervisor recorded it. */
export type AttemptEvent =
  | { type: 'started'; pid: number; nodeId: string; command: string[] }
  | { type: 'stage'; name: string; step: number; steps: number }
  | {
      type: 'log';
      source: 'stdout' | 'stderr';
      lines: string[];
      cutBytes: number;
      /** Present state of a line that has not ended (a progress bar). It is no line: the next event of this source replaces it. */
      progress?: string;
    }
  | {
      type: 'metrics';
      step: number;
      values: Record<string, MetricValue>;
      /** Number of values that were omitted because the event had too many. */
      omitted?: number;
    }
  | BatchPartEvent
  | { type: 'checkpoint'; step: number; path: string }
  | StoredCheckpointEvent
  | EvaluationEvent
  | {
      type: 'gap';
      /** `reports`: neither lines nor a batch; the reason says what. */
      kind: 'logs' | 'batch' | 'reports';
      step: number;
      count: number;
      bytes: number;
      rows: number;
      reason: string;
    }
  | Ended;

/** A rule fires once in an attempt. If it asks for a stop, the next state event is that stop. */
export interface RuleEvent {
  type: 'rule';
  rule: string;
  do: 'mark' | 'stop' | 'stop-at-checkpoint';
  attempt: number;
  step: number;
  /** When what it looked at was recorded (ms since 1970). */
  at: number;
  /** The batch that it is about; it is kept. */
  batch: number | null;
  /** What happened, in a sentence. */
  reason: string;
  evidence: {
    condition: string;
    /** The last values that met the condition, oldest first. */
    values: { name: string; step: number; value: number | string; batch: number | null }[];
  };
}

/** What the controller adds. */
export type ControllerEvent =
  | RuleEvent
  /** It makes room for another experiment. `until`: when it is stopped at the latest (ms since 1970); null: it stays after all. */
  | { type: 'preemption'; attempt: number; until: number | null; reason: string }
  | { type: 'state'; from: State | null; to: State; attempt: number; reason: string }
  | {
      type: 'verification';
      attempt: number;
      batch: number;
      step: number;
      rows: number;
      exact: number;
      rounding: number;
      wrong: number;
      unverifiable: number;
      /** Codes of error findings. */
      errors: string[];
      ok: boolean;
      /** There was a report before, which said that the batch is not verifiable: this one holds instead. */
      replaces?: true;
    };

/** Every event of an experiment's stream. */
export type ExperimentEvent = AttemptEvent | ControllerEvent;

/** The `type` of every event, for filters and documentation. */
export const EVENT_TYPES = [
  'started',
  'stage',
  'log',
  'metrics',
  'batch',
  'checkpoint',
  'gap',
  'ended',
  'evaluation',
  'stored',
  'state',
  'verification',
  'rule',
  'preemption',
] as const satisfies readonly ExperimentEvent['type'][];

/** An event as it stands in the stream: `id` is the Redis Stream id, `at` the time it arose (ms since 1970). */
export interface StreamEntry {
  id: string;
  at: number;
  event: ExperimentEvent;
}

/** Counts of a sweep's children by state, told when one of them has ended. */
interface SweepEvent {
  type: 'sweep';
  /** The sweep's own state. */
  state: string;
  counts: Record<State, number>;
}

/** The ray-worker of a cluster has answered no dispatcher for a while; told in the feeds of projects with subscriptions. */
interface ClusterEvent {
  type: 'cluster';
  state: 'silent';
  /** Its last answer (ms since 1970). */
  since: number;
}

/** What a feed tells of; of checkpoints and clusters, only the feed of a project. */
export type FeedEvent =
  | Extract<ExperimentEvent, { type: 'state' | 'verification' | 'rule' | 'preemption' | 'checkpoint' }>
  | SweepEvent
  | ClusterEvent;

/** The `type` of every event of a feed. */
export const FEED_TYPES = [
  'state',
  'verification',
  'rule',
  'preemption',
  'checkpoint',
  'sweep',
  'cluster',
] as const satisfies readonly FeedEvent['type'][];

/** An entry of the feed of a project, or of all projects: `id` is its number in that feed, from 1, without a gap. */
export interface FeedEntry {
  id: string;
  at: number;
  project: string;
  /** null: of a sweep or a cluster. */
  experiment: string | null;
  /** Name of the experiment, the sweep or the cluster. */
  name: string;
  /** The sweep, or that of the experiment; null: none. */
  sweep: string | null;
  event: FeedEvent;
}

/** An attempt's event for the store, numbered from 1. The event of a batch part has the bytes of that part. */
export interface NumberedEvent {
  sequence: number;
  at: number;
  event: AttemptEvent;
  data?: Uint8Array;
}
