/** What a report in one HTML file holds beside its page: a head in JSON, and the batches whose rows it shows. */
import type { RowExplanation } from '../explain/explain.ts';
import type { BatchReport } from '../report/report.ts';

/** A batch in the table of the report. */
export interface ListedReport
  extends Pick<
    BatchReport,
    'name' | 'rows' | 'exact' | 'rounding' | 'wrong' | 'unverifiable' | 'findings' | 'ok'
  > {
  consistent?: boolean;
  /** Why the file lacks its rows; omitted: it has them. */
  withoutRows?: string;
  /** The file has no texts of its observations and actions, to stay small. */
  withoutTexts?: boolean;
}

/** Counts over all batches, listed or not. */
export interface Totals {
  batches: number;
  ok: number;
  consistent: number;
  rows: number;
  exact: number;
  rounding: number;
  wrong: number;
  unverifiable: number;
}

/** The first wrong row, with its explanation. */
export interface FirstWrong {
  file: string;
  batch: string;
  /** From 0. */
  row: number;
  explanation: RowExplanation;
  /** The explanation as people read it. */
  text: string;
}

/** The head of a report. */
export interface ReportHead {
  /** The command that verifies the same files. */
  command: string;
  totals: Totals;
  /** Batches that are not ok first come into the list, at most 200; all in their order. */
  reports: ListedReport[];
  /** For each run of a trainer its format and estimator. */
  dumps: { title: string; run: string; estimator: string }[];
  firstWrong?: { at: number; row: number; likelyCause: string | null };
}

/** Ids of the elements that hold the parts of a report, each as base64 of gzip. */
export const HEAD_ID = 'report-head';
export const batchId = (at: number): string => `report-batch-${at}`;
