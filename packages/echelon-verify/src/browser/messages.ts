/** What a page asks the verifier in its worker thread, and what it answers. All of it can be cloned between threads. */
import type { RowExplanation } from '../explain/explain.ts';
import type { TokenExplanation } from '../explain/explain-step.ts';
import type { RowColumns } from '../explain/row-columns.ts';
import type { BatchReport } from '../report/report.ts';
import type { RecordedStepReport } from '../verify/recorded-step.ts';
import type { TokenColumns } from '../verify/token-columns.ts';

/** A file that the user chose; `path` begins with the folder, if one was chosen. */
export interface ChosenFile {
  path: string;
  file: File;
}

/**
 * A question; `at` is the index of a batch among all of the files that were read last, from 0. `from`: the format that reads
 * every file. `rows` and `explain` are of advantages, `tokens` and `token` of optimizer steps.
 */
export type Question =
  | { kind: 'formats' }
  | { kind: 'read'; files: ChosenFile[]; from?: string }
  | { kind: 'rows'; at: number }
  | { kind: 'explain'; at: number; row: number }
  | { kind: 'tokens'; at: number; row: number }
  | { kind: 'token'; at: number; row: number; position: number };

/** What was found in the files. */
export interface Found {
  /** `consistent`: nothing is wrong, but the step of a dump is not verified. */
  reports: ((BatchReport | RecordedStepReport) & { consistent?: boolean })[];
  /** For each run of a trainer its format and estimator. */
  dumps: { title: string; run: string; estimator: string }[];
  /** Files that are in no known format, as a run's configuration. */
  skipped: string[];
}

/** The answers by the kind of the question; `rows` are the first 10,000. */
export interface Answers {
  formats: { name: string; title: string }[];
  read: Found;
  rows: RowColumns;
  explain: RowExplanation;
  tokens: TokenColumns;
  token: TokenExplanation;
}
