/** What a page asks the verifier in its worker thread, and what it answers. All of it can be cloned between threads. */
import type { RowExplanation } from '../explain/explain.ts';
import type { RowColumns } from '../explain/row-columns.ts';
import type { BatchReport } from '../report.ts';

/** A file that the user chose; `path` begins with the folder, if one was chosen. */
export interface ChosenFile {
  path: string;
  file: File;
}

/** A question; `at` is the index of a batch among all of the files that were read last, from 0. */
export type Question =
  | { kind: 'read'; files: ChosenFile[] }
  | { kind: 'rows'; at: number }
  | { kind: 'explain'; at: number; row: number };

/** What was found in the files. */
export interface Found {
  /** `consistent`: nothing is wrong, but the step of a dump is not verified. */
  reports: (BatchReport & { consistent?: boolean })[];
  /** For each run of a trainer its format and estimator. */
  dumps: { title: string; run: string; estimator: string }[];
  /** Files that are in no known format, as a run's configuration. */
  skipped: string[];
}

/** The answers by the kind of the question; `rows` are the first 10,000. */
export interface Answers {
  read: Found;
  rows: RowColumns;
  explain: RowExplanation;
}
