import { type BatchReport, NOT_VERIFIABLE } from 'echelon-verify/report';
import { type Static, Type } from 'typebox';
import { type Check, createCheck } from '../../schemas/check.ts';
import { BatchReportView, StepReportView } from '../../schemas/records.ts';

/** What is read of a stored report; its other fields are shown as they are. */
const Readable = Type.Object({
  ...BatchReportView.properties,
  step: Type.Optional(Type.Object({ stages: StepReportView.properties.stages })),
  diagnosis: Type.Optional(
    Type.Object({
      signal: Type.Optional(
        Type.Object({ keys: Type.Array(Type.Object({ key: Type.String() })), shares: Type.Object({}) }),
      ),
    }),
  ),
});

/** The verifier's report. */
export type StoredReport = Omit<Static<typeof Readable>, 'diagnosis'>;

/** The report of a batch that could not be read or recomputed: every row is unverifiable, and a finding states why. */
export function unverifiableReport(
  { step, rows }: { step: number; rows: number },
  error: unknown,
): StoredReport & Pick<BatchReport, 'wrongRows' | 'roundingRows'> {
  const message = error instanceof Error ? error.message : String(error);
  return {
    name: `step ${step}`,
    rows,
    exact: 0,
    rounding: 0,
    wrong: 0,
    unverifiable: rows,
    wrongRows: [],
    roundingRows: [],
    findings: [{ code: NOT_VERIFIABLE, severity: 'error', rows: [], message }],
    ok: false,
    fingerprint: '',
  };
}

/** The stored report of a batch. One that is no report reads as {@link unverifiableReport}, so that no other batch is hidden. */
export function readReport(text: string, batch: { step: number; rows: number }): StoredReport {
  const { report, problem } = parse(text);
  if (problem === undefined) return report as StoredReport;
  return unverifiableReport(batch, `Its stored report cannot be read: ${problem}. Verify the batch again.`);
}

/** What a report has added to the counters of its experiment. */
export interface Counted {
  exact: number;
  rounding: number;
  wrong: number;
  unverifiable: number;
  errors: number;
  unreadable: number;
}

/**
 * What a stored report has counted, if a better one may replace it: the batch, or the report itself, could not be read.
 * Otherwise undefined.
 */
export function replaceable(text: string): Counted | undefined {
  const { report, problem } = parse(text);
  const { findings = [], ...counts } = report as Partial<StoredReport>;
  const isUnread = problem === undefined && findings.some(({ code }) => code === NOT_VERIFIABLE);
  if (problem === undefined && !isUnread) return undefined;
  const number = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0);
  const { exact, rounding, wrong, unverifiable } = counts;
  return {
    exact: number(exact),
    rounding: number(rounding),
    wrong: number(wrong),
    unverifiable: number(unverifiable),
    // The one error of such a report is `not-verifiable`.
    errors: isUnread ? 1 : 0,
    unreadable: isUnread ? 1 : 0,
  };
}

let check: Check | undefined;

function parse(text: string): { report: unknown; problem?: string } {
  let report: unknown;
  try {
    report = JSON.parse(text);
  } catch {
    return { report: {}, problem: 'it is not JSON' };
  }
  check ??= createCheck(Readable);
  const [first] = check(report);
  if (first === undefined) return { report };
  return { report: report ?? {}, problem: `${first.field || 'it'} ${first.message}` };
}
