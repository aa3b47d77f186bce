import type { StoredReport } from '../../src/store/batches/stored-report.ts';

/** A whole report of a batch with these counts; `errors`: codes of its error findings. */
export function reportOf({
  step,
  errors,
  ...counts
}: Pick<StoredReport, 'rows' | 'exact' | 'rounding' | 'wrong' | 'unverifiable' | 'ok'> & {
  step: number;
  errors: readonly string[];
}): StoredReport {
  const { rows, exact, rounding, wrong, unverifiable, ok } = counts;
  return {
    name: `step ${step}`,
    rows,
    exact,
    rounding,
    wrong,
    unverifiable,
    findings: errors.map((code) => ({ code, severity: 'error', message: `it has ${code}`, rows: [] })),
    ok,
    fingerprint: '',
  };
}
