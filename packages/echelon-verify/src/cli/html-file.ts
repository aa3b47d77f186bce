import { writeFile } from 'node:fs/promises';
import { cut } from 'command-kit/cut';
import { inert } from 'command-kit/inert';
import { shellWord } from 'command-kit/shell-word';
import { adapterOf } from '../dumps/registry.ts';
import type { FirstWrong, ListedReport, Totals } from '../html/contents.ts';
import type { ReportCollector } from '../html/write-report.ts';
import { configurationText } from '../verify/verify-dump.ts';
import { type AnyReport, BatchFileError } from './batch-files.ts';
import { optionsText, type StatedFiles } from './dump-options.ts';

const MAX_FINDINGS = 8;
const MAX_MESSAGE_CHARACTERS = 600;

/** What a report in one HTML file is made from. */
export interface HtmlFile {
  readonly file: string;
  readonly paths: readonly string[];
  readonly program: string;
  readonly stated: StatedFiles;
  /** All reports, in the order in which the collector received their batches. */
  readonly reports: readonly AnyReport[];
  readonly firstWrong?: FirstWrong | undefined;
}

/** Writes the report. Throws a BatchFileError if the file cannot be written. */
export async function writeHtmlFile(collector: ReportCollector, html: HtmlFile): Promise<void> {
  const { file, paths, program, stated, reports, firstWrong } = html;
  const text = await collector.write((listed) => {
    const at = listed.findIndex(({ at: place }) => reports[place]!.wrongRows.length > 0);
    const likelyCause = firstWrong?.explanation.likelyCause ?? null;
    return {
      command: inert(`${program} verify ${paths.map(shellWord).join(' ')}${optionsText(stated)}`),
      totals: totalsOf(reports),
      reports: listed.map(({ at: place, ...without }) => ({ ...listedOf(reports[place]!), ...without })),
      dumps: dumpsOf(reports),
      ...(firstWrong && at >= 0 && { firstWrong: { at, row: firstWrong.row, likelyCause } }),
    };
  });
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new BatchFileError(`Cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
}

function listedOf(report: AnyReport): ListedReport {
  const { name, rows, exact, rounding, wrong, unverifiable, ok, findings } = report;
  return {
    ...{ name: cut(name), rows, exact, rounding, wrong, unverifiable, ok },
    ...('consistent' in report && { consistent: report.consistent }),
    findings: findings.slice(0, MAX_FINDINGS).map(({ message, rows: concerned, ...finding }) => ({
      ...finding,
      message: cut(message, MAX_MESSAGE_CHARACTERS),
      rows: concerned.slice(0, 1),
    })),
  };
}

function totalsOf(reports: readonly AnyReport[]): Totals {
  const sum = (of: (report: AnyReport) => number): number =>
    reports.reduce((total, report) => total + of(report), 0);
  return {
    batches: reports.length,
    ok: sum(({ ok }) => Number(ok)),
    consistent: sum((report) => Number('consistent' in report && report.consistent)),
    rows: sum(({ rows }) => rows),
    exact: sum(({ exact }) => exact),
    rounding: sum(({ rounding }) => rounding),
    wrong: sum(({ wrong }) => wrong),
    unverifiable: sum(({ unverifiable }) => unverifiable),
  };
}

const MAX_DUMPS = 20;

function dumpsOf(reports: readonly AnyReport[]): { title: string; run: string; estimator: string }[] {
  const known = new Map<string, { title: string; run: string; estimator: string }>();
  for (const report of reports) {
    if (!('configuration' in report) || known.size >= MAX_DUMPS) continue;
    const { format, run, configuration } = report;
    const dump = {
      title: adapterOf(format).title,
      run: cut(run),
      estimator: cut(configurationText(configuration)),
    };
    known.set(JSON.stringify(dump), dump);
  }
  return [...known.values()];
}
