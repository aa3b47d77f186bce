import { readReport } from './stored-report.ts';
import type { BatchRecord } from './types.ts';

/** A batch from its row and its report (JSON), if it has one. */
export function toBatch(
  place: { experiment: string; field: string },
  row: string,
  report: string | null | undefined,
): BatchRecord {
  const [attempt, batch] = place.field.split(':').map(Number);
  const [step, rows, digest, firstEntry, lastEntry, gpuMs] = row.split(' ');
  return {
    experiment: place.experiment,
    attempt: attempt ?? 0,
    batch: batch ?? 0,
    step: Number(step),
    rows: Number(rows),
    digest: digest ?? '',
    firstEntry: firstEntry ?? '',
    lastEntry: lastEntry ?? '',
    gpuMs: Number(gpuMs ?? 0),
    report: report ? readReport(report, { step: Number(step), rows: Number(rows) }) : null,
  };
}
