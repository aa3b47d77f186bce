import type { State } from '../../core/states.ts';
import type { VerificationCounts } from '../../schemas/experiment.ts';
import type { Sweep, SweepAxis } from '../../schemas/sweep.ts';
import type { Idempotency } from '../access/answers-contract.ts';
import type { CancelOutcome, SubmitInput } from '../experiments/contract.ts';

/** The input of a new sweep. `entries`: the values of each child, one number for each axis. */
export interface SweepInput {
  id: string;
  project: string;
  name: string;
  method: Sweep['method'];
  seed: number | null;
  spec: unknown;
  axes: readonly SweepAxis[];
  earlyStopping?: Sweep['earlyStopping'];
  entries: readonly (readonly number[])[];
  /** The fingerprint of each child; equal ones are stored once. */
  fingerprints: readonly (string | null)[];
  idempotency?: Idempotency;
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
  'name' | 'priority' | 'cluster' | 'gpus' | 'cpus' | 'submitted' | 'resolved' | 'defaults' | 'customCode'
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

/** Sweeps: records whose children are expanded, cancelled and run again in steps that any process may repeat. */
export interface SweepStore {
  /**
   * The record and the values of every child in one step. `created` is false for a repeated idempotency key. Throws
   * EchelonError `invalid-spec` if its project was removed.
   */
  create(input: SweepInput): Promise<{ id: string; created: boolean }>;
  get(id: string): Promise<SweepRecord | undefined>;
  /** Newest first. */
  list(filter: {
    project?: string;
    limit: number;
    before?: string;
  }): Promise<{ items: Sweep[]; next: string | null }>;
  /** Children from `from` on, by index. */
  children(sweep: SweepRecord, from: number, limit: number): Promise<SweepChild[]>;
  /** Sweeps with children to create or to cancel, oldest first. */
  withWork(limit: number): Promise<string[]>;
  /**
   * Creates the experiments of the next children. `more` is false if all exist, if the sweep was cancelled, or if the store
   * accepts no new work now (the sweep then still has work).
   */
  expand(id: string, make: MakeChild): Promise<{ made: SweptExperiment[]; more: boolean }>;
  /**
   * Settles dependent children: a child becomes an experiment if the child that it depends on has succeeded, and is skipped
   * if that one has ended otherwise.
   */
  release(id: string, make: MakeChild): Promise<SweptExperiment[]>;
  /** From then on no child is created; {@link SweepStore.cancelChildren} cancels the existing ones. */
  cancel(id: string, reason: string): Promise<CancelOutcome>;
  /** Cancels children of a cancelled sweep from `from` on. `next`: the next call's `from`; null after the last one. */
  cancelChildren(id: string, from: number): Promise<{ cancelled: string[]; next: number | null }>;
  /**
   * Runs the failed ones of these children again, all or none of each 100. Throws EchelonError `already-final` if the sweep
   * is cancelled, `store-full`, `queue-full`, `queue-closed`.
   */
  rerunChildren(
    sweep: SweepRecord,
    children: readonly SweepChild[],
    make: MakeChild,
  ): Promise<SweptExperiment[]>;
  /** In the order of `ids`; undefined if there is no such experiment. */
  figures(ids: readonly string[], metrics: readonly string[]): Promise<(Figures | undefined)[]>;
  /**
   * Records a child's running average at a step of its sweep's early stopping, and returns those of the other children
   * at the same step. May be repeated.
   */
  recordAverage(place: { sweep: string; index: number; step: number; average: number }): Promise<number[]>;
}
