import pc from 'picocolors';
import { type BundleHead, reportDigest } from '../verify/format/bundle.ts';
import type { BatchReport, Finding } from '../verify/report.ts';
import { verifyBatch } from '../verify/verify-batch.ts';
import { BatchFileError, readBundleOf, type TextStreams } from './batch-files.ts';
import { EXIT } from './exit.ts';
import { inert, json, table } from './output.ts';

/** A report and the file that its batch is from. */
type FileReport = BatchReport & { readonly file: string; readonly bundle?: BundleOf };

/** Where the batch of a replay bundle is from, and whether the stored report is the one that was found now. */
interface BundleOf extends Pick<BundleHead, 'experiment' | 'attempt' | 'batch' | 'version'> {
  /** null: there was no report yet when the bundle was written. */
  readonly sameReport: boolean | null;
}

/**
 * `echelon verify FILE…`: verifies every batch of every file. Prints a table and the findings, or one JSON document
 * `{batches: [...]}`. Exit status: 0 all ok, 1 something is not, 2 a file is unreadable (said on standard error, with
 * file, batch, field and what was expected; the readable ones are reported all the same).
 */
export async function verifyFiles(
  paths: readonly string[],
  options: { readonly json?: boolean },
  io: TextStreams,
): Promise<number> {
  const reports: FileReport[] = [];
  let unreadable = false;
  for (const file of paths) {
    try {
      const { batches, bundle } = await readBundleOf(file);
      for (const batch of batches) {
        const report = verifyBatch(batch);
        reports.push({ file, ...report, ...(bundle && { bundle: originOf(bundle, report) }) });
      }
    } catch (error) {
      if (!(error instanceof BatchFileError)) throw error;
      unreadable = true;
      io.stderr.write(`${inert(error.message)}\n`);
    }
  }
  if (options.json === true) io.stdout.write(`${json({ batches: reports })}\n`);
  else if (reports.length > 0) io.stdout.write(describe(reports));
  if (unreadable) return EXIT.usage;
  return reports.every((report) => report.ok) ? EXIT.ok : EXIT.notOk;
}

function originOf(head: BundleHead, report: BatchReport): BundleOf {
  const { experiment, attempt, batch, version, reportDigest: stored } = head;
  return {
    experiment,
    attempt,
    batch,
    version,
    sameReport: stored === null ? null : stored === reportDigest(report),
  };
}

function bundleLine({ experiment, attempt, batch, version, sameReport }: BundleOf): string {
  const from = `  batch ${batch} of attempt ${attempt} of ${experiment}, written by ${version}`;
  if (sameReport === null) return inert(`${from}: there was no report to compare with`);
  return sameReport
    ? inert(`${from}: the same report as was stored`)
    : pc.yellow(inert(`${from}: ANOTHER report than was stored`));
}

function describe(reports: readonly FileReport[]): string {
  const files = new Set(reports.map((report) => report.file));
  const head = ['batch', 'rows', 'exact', 'rounding', 'wrong', 'unverifiable', ''];
  const rows = reports.map((report) => [
    inert(files.size > 1 ? `${report.file}: ${report.name}` : report.name),
    report.rows,
    report.exact,
    report.rounding,
    report.wrong === 0 ? '0' : pc.red(String(report.wrong)),
    report.unverifiable,
    verdict(report),
  ]);
  const lines = [table(head, rows)];
  for (const report of reports) {
    if (report.findings.length === 0 && !report.bundle) continue;
    lines.push('', pc.bold(inert(report.name)), ...report.findings.map(findingLine));
    if (report.bundle) lines.push(bundleLine(report.bundle));
  }
  return `${[...lines, '', summary(reports)].join('\n')}\n`;
}

/** Ok or not, in a word or two, coloured. */
export function verdict(report: BatchReport): string {
  if (report.ok) return report.findings.length === 0 ? pc.green('ok') : pc.green('ok, with warnings');
  return pc.red(report.unverifiable > 0 && report.wrong === 0 ? 'not verified' : 'NOT OK');
}

/** A finding as an indented line. */
export function findingLine({ severity, code, message }: Finding): string {
  const label = severity === 'error' ? pc.red('error  ') : pc.yellow('warning');
  return `  ${label} ${code}: ${inert(message)}`;
}

function summary(reports: readonly FileReport[]): string {
  const total = (key: 'rows' | 'exact' | 'rounding' | 'wrong' | 'unverifiable'): string =>
    reports.reduce((sum, report) => sum + report[key], 0).toLocaleString('en-US');
  const ok = reports.filter((report) => report.ok).length;
  const text = `${ok} of ${reports.length} batches ok; ${total('rows')} rows: ${total('exact')} exact, ${total('rounding')} rounding, ${total('wrong')} wrong, ${total('unverifiable')} unverifiable`;
  return ok === reports.length ? pc.green(text) : pc.red(text);
}
