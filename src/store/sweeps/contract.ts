import type { State } from '../../core/states.ts';
import type { VerificationCounts } from '../../schemas/experiment.ts';
import type { Sweep, SweepAxis } from '../../schemas/sweep.ts';
import type { Idempotency } from '../access/answers-contract.ts';
import type { CancelOutcome, SubmitInput } from '../experiments/contract.ts';

/** What a sweep is made from. `entries`: the values of each child, one number for each axis. */
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
  /** Of each child; equal ones are stored once. */
  fingerprints: readonly (string | null)[];
  idempotency?: Idempotency;
  /** Index of the child that must succeed first, by index; those that wait stand behind all others. */
  after?: Readonly<Record<number, number>>;
}

/** A sweep with what its children are made from. */
export interface SweepRecord extends Sweep {
  spec: unknown;
  axes: SweepAxis[];
  /** Children that wait for no other, from index 0 on; how many of them are experiments. */
  free: number;
  freeMade: number;
  /** Ends of children while others waited. */
  ends: string;
}

/** A child: `state` null where it is not yet an experiment. */
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
  /** What was found of its batches; null where it is not yet an experiment. */
  verification: VerificationCounts | null;
}

/** What an experiment of a sweep is made from; its id, sweep and project are the store's to say. */
export type SweepChildInput = Pick<
  SubmitInput,
  'name' | 'priority' | 'cluster' | 'gpus' | 'cpus' | 'submitted' | 'resolved' | 'defaults'
>;

/** Makes a child of a sweep from its entry. */
export type MakeChild = (sweep: SweepRecord, entry: number[]) => SweepChildInput;

/** A child that has become an experiment. */
export interface SweptExperiment {
  experiment: string;
  priority: number;
}

/** What a comparison reads of an experiment. */
export interface Figures {
  state: State;
  startedAt: number | null;
  endedAt: number | null;
  gpus: number;
  cpus: number;
  exact: number;
  rounding: number;
  wrong: number;
  unverifiable: number;
  /** Last values, of the metrics asked for that are finite numbers. */
  metrics: Record<string, number>;
}

/*
 * What always holds: a sweep's counts are the states of its expanded children (the last run of each), since every
 * step that moves a child counts it in the same step.
 */

/** Sweeps: records whose children are expanded, cancelled and run again in steps that any process may repeat. */
export interface SweepStore {
  /**
   * The record and the values of every child in one step. `created` is false for a repeated idempotency key. Throws
   * EchelonError `invalid-spec` where its project was removed meanwhile.
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
  /** Sweeps with children to expand or to cancel, oldest first. */
  withWork(limit: number): Promise<string[]>;
  /**
   * Makes the next children experiments. `more` false: all are, or the sweep was cancelled, or the store takes no new
   * work now (it still stands among those with work then).
   */
  expand(id: string, make: MakeChild): Promise<{ made: SweptExperiment[]; more: boolean }>;
  /**
   * Settles children that wait for another child: those whose child has succeeded become experiments, those whose child
   * has ended otherwise are given up.
   */
  release(id: string, make: MakeChild): Promise<SweptExperiment[]>;
  /** From then on nothing of it is made; its children are cancelled by {@link SweepStore.cancelSweepChildren}. */
  cancel(id: string, reason: string): Promise<CancelOutcome>;
  /** Cancels children of a cancelled sweep from `from` on. `next`: the next call's `from`; null after the last one. */
  cancelChildren(id: string, from: number): Promise<{ cancelled: string[]; next: number | null }>;
  /**
   * Runs the failed ones among these children again, all or none of each 100. Throws EchelonError `already-final` where
   * the sweep is cancelled, `store-full`, `queue-full` where too many experiments of its project would wait.
   */
  rerunChildren(
    sweep: SweepRecord,
    children: readonly SweepChild[],
    make: MakeChild,
  ): Promise<SweptExperiment[]>;
  /** In the order of `ids`; undefined for one that is no experiment. */
  figures(ids: readonly string[], metrics: readonly string[]): Promise<(Figures | undefined)[]>;
  /**
   * Records a child's running average at a step of its sweep's early stopping, and returns those of the other children
   * at the same step. May be repeated.
   */
  recordAverage(place: { sweep: string; index: number; step: number; average: number }): Promise<number[]>;
}
