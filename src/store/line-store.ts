import type { StartEstimate } from './queue-store.ts';

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

/** Where a page of the line begins: behind a score of the line; behind another one for those of some projects. */
export interface LinePlace {
  behind: string;
  projects: Readonly<Record<string, string>>;
}

/** A page of the line, and where the next one begins; null: it is the last one. */
export interface LinePage {
  /** `place`: how many stand before it in the order of the pages, and itself; of one project's, in the line of all. */
  waiting: (Waiting & { place: number })[];
  /** Number of all that wait. */
  length: number;
  next: LinePlace | null;
}

/** The line. */
export interface LineStore {
  /**
   * A page of the line, or of what of it belongs to one project. Projects take turns as the last choice found it, or, where
   * very many wait, all stand in the order of the line. Each that waits all the while, at the same priority, is on one page
   * of those that follow one another; where the number of projects becomes large in between, it may be on two.
   */
  linePage(input: { limit: number; project?: string; from?: LinePlace }): Promise<LinePage>;
  waiting(limit: number): Promise<Waiting[]>;
  /** Number in the line, and this experiment's rank from 1 (null where it does not wait). */
  position(id: string): Promise<{ rank: number | null; length: number }>;
  /** Experiments that wait, in the order of the line: `limit` from place `from` (0 where it is left out) on. */
  waitingIds(limit: number, from?: number): Promise<string[]>;
  /** Those of them that wait. */
  whoWaits(ids: readonly string[]): Promise<Set<string>>;
}
