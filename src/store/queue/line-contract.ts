import type { StartEstimate } from './contract.ts';

/** An experiment in the line, in the order of the line. */
export interface Waiting {
  experiment: string;
  name: string;
  project: string;
  priority: number;
  cluster: string | null;
  gpus: number;
  cpus: number;
  submittedAt: number;
  /** Why it waits, in words, as the last choice said; null before the first. */
  reason: string | null;
  /** ms since 1970 before which it does not start, because its last attempt was lost; null where that has passed. */
  notBefore?: number | null;
  /** Labels that its cluster must have, all of them; absent: any. */
  labels?: Readonly<Record<string, string>>;
  /** Id of its sweep, where it is of one. */
  sweep?: string | null;
  /** Its place in the order of the last choice, from 1; null: it was not looked at. */
  rank?: number | null;
  /** When it is expected to start; null: `unknown` says why that is not known. */
  estimate?: StartEstimate | null;
  unknown?: string | null;
}

/** A page of the queue. */
export interface LinePage {
  /** By `position`: that of the last scheduling round; without one, the rank by priority and arrival. From 1. */
  waiting: (Waiting & { position: number })[];
  /** Number of all queued experiments. */
  length: number;
  /** `after` of the next page; null: this is the last one. */
  next: string | null;
}

/** The line. */
export interface LineStore {
  /**
   * A page of the queue, or of one project's part of it. Pages follow one another by priority and arrival, so an
   * experiment that stays queued at the same priority is on exactly one of them.
   */
  linePage(input: { limit: number; project?: string; after?: string }): Promise<LinePage>;
  waiting(limit: number): Promise<Waiting[]>;
  /** Number in the line, and this experiment's rank from 1 (null where it does not wait). */
  position(id: string): Promise<{ rank: number | null; length: number }>;
  /** Experiments that wait, in the order of the line: `limit` from place `from` (0 where it is left out) on. */
  waitingIds(limit: number, from?: number): Promise<string[]>;
  /** Those of them that wait. */
  whoWaits(ids: readonly string[]): Promise<Set<string>>;
}
