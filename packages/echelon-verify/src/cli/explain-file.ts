import { EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { json } from 'command-kit/output';
import { adapterOf } from '../dumps/registry.ts';
import { explainRow } from '../explain/explain.ts';
import { explainToken } from '../explain/explain-step.ts';
import { formatExplanation } from '../explain/explain-text.ts';
import { causesOf } from '../explain/step-causes.ts';
import { formatToken } from '../explain/step-text.ts';
import type { Batch } from '../format/batch.ts';
import type { StepBatch } from '../format/step-batch.ts';
import { verifyStep } from '../step/verify-step.ts';
import { verifyBatch } from '../verify/verify-batch.ts';
import { configurationText, type DumpReport, verifySteps } from '../verify/verify-dump.ts';
import { BatchFileError, notChosen, orUnreadable, readBatchesOf, type TextStreams } from './batch-files.ts';
import { sourcesOf } from './dump-files.ts';
import type { StatedFiles } from './dump-options.ts';
import { stepLines } from './step-text.ts';
import { stepsOf } from './steps-of.ts';

export interface ExplainFileOptions extends StatedFiles {
  /** Name of the batch; needed only if the file holds several. */
  readonly batch?: string | undefined;
  /** Default: the first wrong row. */
  readonly row?: number | undefined;
  /** Of a token in a row of an optimizer step. Default: the first wrong token, else the first of the row. */
  readonly position?: number | undefined;
  readonly json?: boolean | undefined;
}

/** A batch; of a dump, with what its verification said. */
interface Readable {
  readonly batch: Batch;
  readonly report?: DumpReport;
}

/**
 * `echelon explain PATH --batch NAME --row N`: explains the advantage of a row of a batch file or a dump, as text or JSON.
 * Default: the first wrong row. The exit status is 0, or 2 if the file, the batch or the row cannot be read, or no row is wrong.
 */
export function explainFile(path: string, options: ExplainFileOptions, io: TextStreams): Promise<number> {
  return orUnreadable(io, async () => {
    const steps = await stepsOf(path, options.from);
    if (steps !== undefined) return explainStep(path, steps, options, io);
    const { batch, report, row } = await placeOf(path, options);
    if (!Number.isInteger(row) || row < 0 || row >= batch.rows) {
      throw new BatchFileError(
        `${path}, batch ${batch.name}: there is no row ${row}. The rows are 0 to ${batch.rows - 1}.`,
      );
    }
    if (report !== undefined)
      io.stderr.write(`estimator: ${inert(configurationText(report.configuration))}\n`);
    const explanation = explainRow(batch, row);
    io.stdout.write(options.json === true ? `${json(explanation)}\n` : formatExplanation(explanation));
    return EXIT.ok;
  });
}

/** Explains a token of one of the steps of a file. */
function explainStep(
  path: string,
  steps: readonly StepBatch[],
  { batch: name, row, position, json: asJson }: ExplainFileOptions,
  io: TextStreams,
): number {
  const named = name === undefined ? steps : steps.filter((step) => step.name === name);
  const [chosen] = named;
  if (chosen === undefined || named.length > 1)
    throw notChosen(
      path,
      name,
      steps.map((step) => step.name),
    );
  const report = verifyStep(chosen);
  const wrong = report.wrongTokens.find((one) => row === undefined || one.row === row);
  const place = { row: row ?? wrong?.row, token: position ?? wrong?.token ?? 0 };
  // What has no token, such as a reported value, is explained as a whole.
  if (place.row === undefined && !report.consistent) {
    const causes = causesOf(chosen, report);
    const text = stepLines({ ...report, causes }, io.stdout.columns).join('\n');
    io.stdout.write(asJson === true ? `${json({ ...report, causes })}\n` : `${text}\n`);
    return EXIT.ok;
  }
  if (place.row === undefined)
    throw new BatchFileError(
      `${path}: no token is wrong. Give the token to explain with --row and --position, from 0.`,
    );
  const explanation = explainToken(chosen, place.row, place.token);
  io.stdout.write(asJson === true ? `${json(explanation)}\n` : formatToken(explanation));
  return EXIT.ok;
}

async function placeOf(path: string, options: ExplainFileOptions): Promise<Readable & { row: number }> {
  const { batch: name, row } = options;
  const names: string[] = [];
  let chosen: Readable | undefined;
  let refused: BatchFileError | undefined;
  for await (const one of readablesOf(path, options)) {
    names.push(one.batch.name);
    if (name !== undefined && one.batch.name !== name) continue;
    // Another step can have the name: that of the training beside an evaluation.
    const refusal = refusalOf(path, one);
    if (refusal !== undefined) {
      refused ??= refusal;
      continue;
    }
    const place = row ?? (one.report ?? verifyBatch(one.batch)).wrongRows[0];
    // Without a name, only the row of a single batch can be meant.
    if (place !== undefined && (row === undefined || name !== undefined)) return { ...one, row: place };
    chosen = one;
  }
  if (chosen !== undefined && row !== undefined && names.length === 1) return { ...chosen, row };
  if (chosen === undefined && refused !== undefined) throw refused;
  if (chosen === undefined || row !== undefined) throw notChosen(path, name, names);
  throw new BatchFileError(`${path}: no row is wrong. Give the row to explain with --row, from 0.`);
}

/** The batches of a file of the project's own format, or the steps of the dumps in a file or folder. */
async function* readablesOf(path: string, options: ExplainFileOptions): AsyncGenerator<Readable> {
  const { batch: _batch, row: _row, json: _json, from, ...stated } = options;
  const forced = from === undefined ? undefined : adapterOf(from);
  const { sources, broken } = await sourcesOf([path], forced, stated.map);
  if (broken[0] !== undefined) throw broken[0];
  for (const source of sources) {
    if ('file' in source) for (const batch of await readBatchesOf(source.file)) yield { batch };
    else if ('adapter' in source) yield* verifySteps(source.adapter, source.files, stated);
  }
}

/** Findings of a step whose estimator, groups or rewards are not known, or whose rows are not those of the training. */
const UNKNOWN = [
  'configuration-unknown',
  'group-size-unknown',
  'rewards-unknown',
  'rewards-incomplete',
  'evaluation-rows',
];

/** Why a step of a dump cannot be explained: a row would be called wrong for what is not known of it. */
function refusalOf(path: string, { batch, report }: Readable): BatchFileError | undefined {
  const unknown = report?.findings.find(({ code }) => UNKNOWN.includes(code));
  return unknown && new BatchFileError(`${path}, batch ${batch.name}: ${unknown.message}`);
}
