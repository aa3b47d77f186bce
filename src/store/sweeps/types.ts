import type { State } from '../../core/states.ts';
import type { VerificationCounts } from '../../schemas/experiment.ts';
import type { Sweep, SweepAxis, SweepMetric } from '../../schemas/sweep.ts';
import type { Idempotency } from '../access/answers.ts';
import type { SubmitInput } from '../experiments/types.ts';

/** The input of a new sweep. `entries`: the values of each child, one number for each axis. */
export interface SweepInput {
  id: string;
  project: string;
  name: string;
  method: Sweep['method'];
  seed: number | null;
  spec: unknown;
  axes: readonly SweepAxis[];
  metric?: SweepMetric | undefined;
  earlyStopping?: Sweep['earlyStopping'];
  comparison?: Sweep['comparison'];
  entries: readonly (readonly number[])[];
  /** The fingerprint of each child; equal ones are stored once. */
  fingerprints: readonly (string | null)[];
  idempotency?: Idempotency;
  /** Name of the caller, for the usage of its experiments. */
  owner?: string;
  /** By the index of a child: the index of the child that must succeed first. Dependent children come after all others. */
  after?: Readonly<Record<number, number>>;
}

/** A sweep with the input of its children. */
export interface SweepRecord extends Sweep {
  spec: unknown;
  axes: SweepAxis[];
  /** Number of independent children, from index 0 on, and how many of these are experiments. */
  free: number;
  freeMade: number;
  /** Number of ends of children while others depended on them. */
  ends: string;
}

/** A child of a sweep; `state` is null until it is an experiment. */
export interface SweepChild {
  index: number;
  run: number;
  experiment: string;
  state: State | null;
  entry: number[];
  fingerprint: string | null;
  /** Index of the child that must succeed first. */
  after: number | null;
  /** Why it never runs. */
  skipped: string | null;
  /** Verification of its batches; null until it is an experiment. */
  verification: VerificationCounts | null;
}

/** The input of a child's experiment without id, sweep and project, which the store sets. */
export type SweepChildInput = Pick<
  SubmitInput,
  | 'name'
  | 'priority'
  | 'priorityClass'
  | 'cluster'
  | 'gpus'
  | 'cpus'
  | 'submitted'
  | 'resolved'
  | 'defaults'
  | 'customCode'
>;

/**
 * Makes a child of a sweep from its entry. `cluster`: where the child that it depends on ran. Only that cluster is known
 * to read its checkpoint, so that the new child gets it unless its spec names a cluster.
 */
export type MakeChild = (sweep: SweepRecord, entry: number[], cluster?: string) => SweepChildInput;

/** A child that has become an experiment. */
export interface SweptExperiment {
  experiment: string;
  priority: number;
}

/** The figures of an experiment in a comparison. */
export interface Figures {
  state: State;
  startedAt: number | null;
  endedAt: number | null;
  /** Of all its nodes together. */
  gpus: number;
  cpus: number;
  exact: number;
  rounding: number;
  wrong: number;
  unverifiable: number;
  /** Last values of the requested metrics that are finite numbers. */
  metrics: Record<string, number>;
}

/*
 * Invariant: a sweep's counts are the states of its expanded children (the last run of each), because every step that
 * changes a child's state counts it in the same step.
 */
