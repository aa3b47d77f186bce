import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { styleText } from 'node:util';
import { EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { json } from 'command-kit/output';
import { plural } from 'command-kit/plural';
import { shellWord } from 'command-kit/shell-word';
import { table } from 'command-kit/table';
import { present } from '../base/present.ts';
import type { DumpAdapter } from '../dumps/adapter.ts';
import { ADAPTERS } from '../dumps/registry.ts';
import { runsOf } from '../dumps/runs.ts';
import type { StepAdapter } from '../dumps/steps/adapter.ts';
import { anyAdapterOf, stepsBesides } from '../dumps/steps/registry.ts';
import { explainRow } from '../explain/explain.ts';
import { formatExplanation } from '../explain/explain-text.ts';
import type { Batch } from '../format/batch.ts';
import { type BundleOf, bundleOf } from '../format/bundle.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { progressed } from '../format/reading.ts';
import type { FirstWrong } from '../html/contents.ts';
import { createReportCollector } from '../html/write-report.ts';
import type { BatchReport, Finding } from '../report/report.ts';
import type { StageName, StepFileReport } from '../step/model/step-report.ts';
import { createStepJudge } from '../verify/explained-steps.ts';
import { type PooledSteps, pooledSteps } from '../verify/pooled-steps.ts';
import { verifyBatch } from '../verify/verify-batch.ts';
import { type DumpReport, type StatedDump, verifySteps, withRowsCompared } from '../verify/verify-dump.ts';
import {
  type AnyReport,
  BatchFileError,
  type BatchFileReport,
  readBundleOf,
  type TextStreams,
} from './batch-files.ts';
import { CAPTURE_INSTALL } from './capture-install.ts';
import { type Source, sourcesOf, tableAmong } from './dump-files.ts';
import { optionsText, type StatedFiles } from './dump-options.ts';
import { dumpHead, unprovenText } from './dump-text.ts';
import { createEstimated, type EstimatedBatches } from './estimated.ts';
import { findingLine } from './finding-line.ts';
import {
  folderHead,
  foundOf,
  lookedForText,
  nextOf,
  nextText,
  type RecognisedFolder,
  recognised,
  verifiedOf,
} from './folder-text.ts';
import { type Gap, gapLines, gapsBeside } from './gaps.ts';
import { writeHtmlFile } from './html-file.ts';
import { deferredBy, joinedSteps, type RankPart } from './rank-files.ts';
import {
  describeBesides,
  describeSteps,
  describeTogether,
  type StepsBesides,
  stepsExit,
} from './step-text.ts';

/**
 * `echelon verify PATH…`: verifies every batch of every file, and every step of the dumps of other trainers. Prints a table
 * and the findings, or one JSON document `{batches: [...]}`, with `firstWrong` if a row is wrong. The exit status is 0 if all batches are ok, 1 if one is not, 2 if
 * a file is unreadable (a message on standard error names it; readable files are reported in any case), 3 if nothing is wrong
 * but a step could not be verified, because its estimator was inferred or it has no advantages.
 */
export async function verifyFiles(
  paths: readonly string[],
  options: StatedFiles & {
    readonly json?: boolean | undefined;
    /** Where a report in one HTML file is written. */
    readonly html?: string | undefined;
    /** Stages of optimizer steps that the exit status 0 needs. Default: every stage that the loss has. */
    readonly require?: readonly StageName[] | undefined;
    /** Name of the program, for the command that explains a row. Default: `echelon`. */
    readonly program?: string;
  },
  io: TextStreams,
): Promise<number> {
  const { json: asJson, html, program = 'echelon', require: required, ...given } = options;
  const { from: _, ...stated } = given;
  const { sources, skipped, broken, folders } = await recognisedSources(paths, given);
  if (asJson !== true) io.stdout.write(folderHead(folders));
  const errors: Error[] = [...broken];
  const steps: StepFileReport[] = [];
  const collector = html === undefined ? undefined : createReportCollector();
  let firstWrong: FirstWrong | undefined;
  const sink = sinkOf(errors, steps, (report, batch) => {
    if (asJson || html !== undefined) firstWrong ??= firstWrongOf(report, batch);
    collector?.add(batch, !report.ok && !isConsistent(report));
  });
  const runs = await verifySources(sources, stated, sink);
  const gaps = await gapsBeside(sources);
  const { besides } = sink;
  for (const { message } of errors) io.stderr.write(`${inert(message)}\n`);
  if (sources.length === 0 && errors.length === 0)
    io.stderr.write(await nothingText(paths, skipped, folders));
  const all = runs.flat();
  if (html !== undefined && collector !== undefined) {
    const about = { file: html, paths, program, stated: given, reports: all, firstWrong };
    if (all.length > 0) await writeHtmlFile(collector, about);
    else io.stderr.write(`${inert(html)} is not written: there is no advantage batch\n`);
  }
  const together = pooledSteps([...steps, ...besides.reports]);
  const next = nextOf(folders, verifiedOf(all, steps.length + besides.reports.length > 0));
  if (asJson === true) {
    const ofSteps = { steps: orNone([...steps, ...besides.reports]), together: orNone(together) };
    const ofFolders = { trainers: orNone(folders.flatMap(foundOf)), next: orNone(next) };
    io.stdout.write(
      `${json({ batches: all, ...present({ ...ofSteps, gaps: orNone(gaps), firstWrong, ...ofFolders }) })}\n`,
    );
  } else {
    if (all.length > 0) io.stdout.write(describe(runs, explainText(all, given, program), io.stdout.columns));
    writeSteps({ steps, besides, together, gaps }, { program, required }, io);
    io.stdout.write(nextText(next, CAPTURE_INSTALL));
  }
  // That the steps of a dump of advantages lack columns takes nothing from its advantages.
  const off = besides.reports.filter(({ consistent }) => !consistent);
  const unreadable = errors.length > 0 || all.length + steps.length === 0;
  const status = exitOf(all, { steps: [...steps, ...off], required }, unreadable);
  const isDoubtful = gaps.length > 0 || together.some(({ findings }) => findings.length > 0);
  return status === EXIT.ok && isDoubtful ? EXIT.unproven : status;
}

/** The files of the paths by what reads them, and the folders by who wrote them. */
async function recognisedSources(paths: readonly string[], { from, map }: StatedFiles) {
  const sorted = await sourcesOf(paths, from === undefined ? undefined : anyAdapterOf(from), map);
  return { ...sorted, folders: await recognised(sorted.folders) };
}

/** The reports of each file of the project's own format, and of each run of a trainer. */
async function verifySources(
  sources: readonly Source[],
  stated: StatedDump,
  sink: Sink,
): Promise<AnyReport[][]> {
  const runs: AnyReport[][] = [];
  for (const source of sources) {
    if ('file' in source) runs.push(await verifyNative(source.file, sink));
    else if ('steps' in source) await verifyStepDump(source.steps, source.files, sink);
    else
      for (const { files } of runsOf(source.adapter, source.files)) {
        runs.push(withRowsCompared(await verifyRun(source.adapter, files, stated, sink)));
        await verifyStepsBesides(source.adapter, files, sink);
      }
  }
  await verifyParts(sink);
  return runs;
}

/** The steps that several ranks recorded, or whose rows are in batches beside them, after all files are known. */
async function verifyParts(sink: Sink): Promise<void> {
  const { parts, estimated, failed } = sink;
  try {
    for await (const { file, step } of joinedSteps(parts))
      sink.seenStep({ file, ...sink.judge(step, estimated.beside(file)) });
  } catch (error) {
    if (!(error instanceof BatchFileError)) throw error;
    failed(error);
  }
}

/** Bytes of a file of advantages up to which its steps are read as well: a step is held in memory. */
const MAX_BESIDE_BYTES = 2 ** 26;

/** The steps in the files of advantages, as far as they are small enough. */
async function verifyStepsBesides(adapter: DumpAdapter, files: readonly string[], sink: Sink): Promise<void> {
  const steps = stepsBesides(adapter.name);
  const own = steps === undefined ? [] : files.filter((file) => steps.besides!.holds(file));
  for (const file of own) {
    const size = await sizeOf(file);
    const seenStep = (own: StepFileReport) => void sink.besides.reports.push(own);
    if (size > MAX_BESIDE_BYTES) sink.besides.unread.push(`${file} (--from ${steps!.name})`);
    else if (size > 0) await verifyStepDump(steps!, [file], { ...sink, seenStep });
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0;
  }
}

/** What is known of optimizer steps, and of what was not captured. */
function writeSteps(
  {
    steps,
    besides,
    together,
    gaps,
  }: {
    steps: readonly StepFileReport[];
    besides: StepsBesides;
    together: readonly PooledSteps[];
    gaps: readonly Gap[];
  },
  { program, required }: { program: string; required: readonly StageName[] | undefined },
  { stdout }: TextStreams,
): void {
  const { columns: width } = stdout;
  if (steps.length > 0) stdout.write(describeSteps(steps, program, { width, required }));
  stdout.write(describeBesides(besides, program, width));
  stdout.write(describeTogether(together));
  stdout.write(
    gapLines(gaps)
      .map((line) => `${styleText('yellow', inert(line))}\n`)
      .join(''),
  );
}

/** A sink that keeps errors and reports of steps, and hands each batch on. */
function sinkOf(errors: Error[], steps: StepFileReport[], seen: Sink['seen']): Sink {
  return {
    failed: (error) => void errors.push(error),
    seenStep: (own) => void steps.push(own),
    judge: createStepJudge(),
    besides: { reports: [], unread: [] },
    parts: [],
    estimated: createEstimated(),
    seen,
  };
}

const orNone = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

/** Receives each report with its batch, and what is wrong with a file. */
interface Sink {
  seen(report: AnyReport, batch: Batch): void;
  seenStep(report: StepFileReport): void;
  /** See {@link createStepJudge}. */
  readonly judge: ReturnType<typeof createStepJudge>;
  /** The steps of files that are read for their advantages. */
  readonly besides: StepsBesides;
  /** Steps of which a file has some of the ranks. */
  readonly parts: RankPart[];
  readonly estimated: EstimatedBatches;
  failed(error: Error): void;
}

function firstWrongOf({ file, wrongRows: [row] }: AnyReport, batch: Batch): FirstWrong | undefined {
  if (row === undefined) return undefined;
  const explanation = explainRow(batch, row);
  return { file, batch: batch.name, row, explanation, text: formatExplanation(explanation) };
}

function exitOf(
  reports: readonly AnyReport[],
  { steps, required }: { steps: readonly StepFileReport[]; required?: readonly StageName[] | undefined },
  unreadable: boolean,
): number {
  if (unreadable) return EXIT.usage;
  const ofSteps = stepsExit(steps, required);
  if (ofSteps === EXIT.notOk || reports.some((report) => !report.ok && !isConsistent(report)))
    return EXIT.notOk;
  return reports.every((report) => report.ok) ? ofSteps : EXIT.unproven;
}

function isConsistent(report: AnyReport): boolean {
  return 'consistent' in report && report.consistent;
}

/** The reports of the batches of a file; those of optimizer steps go to the sink alone. */
async function verifyNative(file: string, sink: Sink): Promise<BatchFileReport[]> {
  const { seen, parts, estimated, failed } = sink;
  try {
    const { batches, steps: own, bundle } = await readBundleOf(file);
    for (const step of own) {
      const key = deferredBy(file, step);
      if (key === undefined) sink.seenStep({ file, ...sink.judge(step) });
      else parts.push({ file, key });
    }
    return batches.map((batch, at) => {
      const report = verifyBatch(batch, batches[at - 1]);
      estimated.add(file, batch);
      seen({ file, ...report }, batch);
      progressed();
      return { file, ...report, ...(bundle && { bundle: bundleOf(bundle, report) }) };
    });
  } catch (error) {
    if (!(error instanceof BatchFileError)) throw error;
    failed(error);
    return [];
  }
}

/** Hands the reports of the optimizer steps of a dump to the sink. */
async function verifyStepDump(
  adapter: StepAdapter,
  files: readonly string[],
  sink: Pick<Sink, 'seenStep' | 'judge' | 'failed'>,
): Promise<void> {
  try {
    for await (const { file, step } of adapter.steps(files)) {
      sink.seenStep({ file, ...sink.judge(step) });
      progressed();
    }
  } catch (error) {
    if (!(error instanceof BatchFormatError)) throw error;
    sink.failed(error);
  }
}

/** The reports of a run. The files after an unreadable one are still read. */
async function verifyRun(
  adapter: DumpAdapter,
  files: readonly string[],
  stated: StatedDump,
  { seen, failed }: Sink,
): Promise<DumpReport[]> {
  const reports: DumpReport[] = [];
  let left = files;
  while (left.length > 0) {
    try {
      for await (const { report, batch } of verifySteps(adapter, left, stated)) {
        reports.push(report);
        seen(report, batch);
      }
      left = [];
    } catch (error) {
      if (!(error instanceof BatchFormatError)) throw error;
      failed(error);
      left = files.includes(error.file) ? files.slice(files.indexOf(error.file) + 1) : [];
    }
  }
  return reports;
}

/** Beside dumps, files of the run are no surprise. */
async function nothingText(
  paths: readonly string[],
  skipped: readonly string[],
  folders: readonly RecognisedFolder[],
): Promise<string> {
  if (skipped.length === 0)
    return `${paths.map(inert).join(', ')}: no file that can be a batch or a dump\n${lookedForText(folders)}`;
  const names = skipped.slice(0, 3).map(inert).join(', ');
  const more = skipped.length > 3 ? ` and ${skipped.length - 3} more` : '';
  const table = await tableAmong(skipped);
  // A table that only lacks the names of its columns is what the reader looks for.
  const advice = table === undefined ? lookedForText(folders) : `${inert(table.message)}\n`;
  return `${plural(skipped.length, 'file')} in no known format skipped: ${names}${more} (--from NAME forces one of ${ADAPTERS.map(({ name }) => name).join(', ')})\n${advice}`;
}

function bundleLine({ experiment, attempt, batch, version, sameReport }: BundleOf): string {
  const from = `  batch ${batch} of attempt ${attempt} of ${experiment}, written by ${version}`;
  if (sameReport === null) return inert(`${from}: no stored report to compare with`);
  return sameReport
    ? inert(`${from}: equal to the stored report`)
    : styleText('yellow', inert(`${from}: DIFFERS from the stored report`));
}

/** The command that explains the first wrong row. */
function explainText(reports: readonly AnyReport[], given: StatedFiles, program: string): string[] {
  const report = reports.find(({ wrongRows }) => wrongRows.length > 0);
  if (report === undefined) return [];
  const path = shellWord('run' in report && needsRun(report) ? report.run : report.file);
  const place = `--batch ${shellWord(report.name)} --row ${report.wrongRows[0]}`;
  return [
    'Explain a wrong row with:',
    `  ${inert(`${program} explain ${path} ${place}${optionsText(given)}`)}`,
    '',
  ];
}

/** What was inferred from a run may not be inferred from one file, and a step can be in files of several folders. */
function needsRun({ configuration, run, file }: DumpReport): boolean {
  return configuration.origin === 'inferred' || run !== dirname(file);
}

/** Steps in a table at most, if there are more those that are not plainly ok. */
const MAX_TABLE_ROWS = 24;

function describe(
  runs: readonly (readonly AnyReport[])[],
  explain: string[],
  width: number | undefined,
): string {
  const all = runs.flat();
  const dumps = runs.map((reports) => reports.filter((report) => 'signal' in report));
  const own = all.filter((report) => !('signal' in report));
  const withFiles = new Set(all.map(({ file }) => file)).size > 1;
  const lines = [own, ...dumps].flatMap((reports) => {
    if (reports.length === 0) return [];
    const head = dumpHead(reports.filter((report) => 'signal' in report));
    const isOwn = head.length === 0;
    const table = tableOf(reports, isOwn && withFiles, width);
    return [...head, ...(isOwn ? [] : ['']), ...table, ...findingLines(reports, isOwn && withFiles), ''];
  });
  const unproven = unprovenText(all.filter((report) => 'signal' in report));
  return `${[...lines, ...explain, summary(all), ...(unproven === undefined ? [] : [styleText('yellow', inert(unproven))])].join('\n')}\n`;
}

function tableOf(reports: readonly AnyReport[], withFiles: boolean, width: number | undefined): string[] {
  const plain = (report: AnyReport): boolean => report.ok && report.findings.length === 0;
  const shown =
    reports.length <= MAX_TABLE_ROWS ? reports : reports.filter((r) => !plain(r)).slice(0, MAX_TABLE_ROWS);
  const head = ['batch', 'rows', 'exact', 'rounding', 'wrong', 'unverifiable', ''];
  const rows = shown.map((report) => [
    nameOf(report, withFiles),
    report.rows,
    report.exact,
    report.rounding,
    report.wrong === 0 ? '0' : styleText('red', String(report.wrong)),
    report.unverifiable,
    resultText(report),
  ]);
  const rest = reports.length - shown.length;
  const restLine =
    rest === 0 ? [] : [`… and ${rest} more, ${reports.filter(plain).length} of all ok without findings`];
  return [...(rows.length > 0 ? [table(head, rows, width)] : []), ...restLine];
}

/** The name of a batch, with its file if there are several. */
const nameOf = ({ file, name }: AnyReport, withFile: boolean): string =>
  inert(withFile ? `${file}: ${name}` : name);

/** Findings batch by batch; those of the steps of a dump once for each kind. */
function findingLines(reports: readonly AnyReport[], withFiles: boolean): string[] {
  if (reports.some((report) => 'signal' in report)) return mergedFindings(reports);
  return reports.flatMap((report) => {
    const bundle = 'bundle' in report ? report.bundle : undefined;
    if (report.findings.length === 0 && !bundle) return [];
    const lines = ['', styleText('bold', nameOf(report, withFiles)), ...report.findings.map(findingLine)];
    return bundle ? [...lines, bundleLine(bundle)] : lines;
  });
}

function mergedFindings(reports: readonly AnyReport[]): string[] {
  const byCode = new Map<string, { first: Finding; steps: string[] }>();
  for (const { name, findings } of reports) {
    for (const found of findings) {
      const known = byCode.get(found.code) ?? { first: found, steps: [] };
      known.steps.push(name);
      byCode.set(found.code, known);
    }
  }
  const severe = ({ first }: { first: Finding }): number => (first.severity === 'error' ? 0 : 1);
  const lines = [...byCode.values()].sort((a, b) => severe(a) - severe(b));
  return lines.length === 0 ? [] : ['', ...lines.map(({ first, steps }) => mergedLine(first, steps))];
}

function mergedLine(first: Finding, [step, ...others]: readonly string[]): string {
  const more =
    others.length === 0
      ? ''
      : ` (also in ${plural(others.length, 'other step')}: ${others.slice(0, 3).join(', ')}${others.length > 3 ? ', …' : ''})`;
  return findingLine({ ...first, message: `${step}: ${first.message}${more}` });
}

/** The outcome of a batch in one or two words, coloured. */
export function resultText(report: BatchReport & { readonly consistent?: boolean }): string {
  if (report.ok)
    return report.findings.length === 0 ? styleText('green', 'ok') : styleText('green', 'ok, with warnings');
  if (report.consistent === true)
    return styleText('yellow', report.unverifiable > 0 ? 'not verified' : 'consistent');
  return styleText('red', report.unverifiable > 0 && report.wrong === 0 ? 'not verified' : 'NOT OK');
}

function summary(reports: readonly AnyReport[]): string {
  const total = (key: 'rows' | 'exact' | 'rounding' | 'wrong' | 'unverifiable'): string =>
    reports.reduce((sum, report) => sum + report[key], 0).toLocaleString('en-US');
  const ok = reports.filter((report) => report.ok).length;
  const text = `${ok} of ${reports.length} batches ok; ${total('rows')} rows: ${total('exact')} exact, ${total('rounding')} rounding, ${total('wrong')} wrong, ${total('unverifiable')} unverifiable`;
  if (ok === reports.length) return styleText('green', text);
  return exitOf(reports, { steps: [] }, false) === EXIT.unproven
    ? styleText('yellow', text)
    : styleText('red', text);
}
