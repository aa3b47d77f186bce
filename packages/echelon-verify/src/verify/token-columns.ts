/** The tokens of one row with their outcomes, and the layout of the step: what a token view is drawn from. */

import { cut } from 'command-kit/cut';
import { finite } from '../explain/explain.ts';
import type { Names, StepBatch } from '../format/step-batch.ts';
import type { RowOutcome } from '../report/report.ts';
import { CODE, OUTCOMES } from '../step/model/judge.ts';
import type { StepModel } from '../step/model/model.ts';
import type { StageName } from '../step/model/step-report.ts';
import { stepModel } from '../step/stages/chain.ts';
import { tokenChecks } from '../step/stages/table.ts';
import { precisionOf, verifyStep } from '../step/verify-step.ts';

/** One micro-batch, and how its rows are. */
export interface MicroBatchView {
  readonly rank: number;
  readonly index: number;
  readonly pass: number;
  readonly rows: number;
  /** Tokens of its masks. */
  readonly tokens: number;
}

/** Columns of equal length, one entry per token of the row. A value that is missing or not finite is null. */
export interface TokenColumns {
  /** Rows of the step. */
  readonly rows: number;
  readonly row: number;
  readonly group: string | null;
  readonly trajectory: string | null;
  readonly microBatch: number;
  /** Tokens of the row; the columns hold at most the first {@link MAX_TOKENS}. */
  readonly tokens: number;
  readonly id: number[] | null;
  /** Text of each token; null: the step has no texts of its ids. */
  readonly text: (string | null)[] | null;
  /** Whether the token contributes to the loss. */
  readonly trained: boolean[];
  /** The worst outcome of the token's stages. */
  readonly outcome: RowOutcome[];
  /** The first stage that breaks. */
  readonly breaks: (StageName | null)[];
  readonly logProb: (number | null)[];
  readonly ratio: (number | null)[];
  /** Gradient coefficient: recomputed, and reported. */
  readonly expected: (number | null)[];
  readonly reported: (number | null)[];
  readonly microBatches: MicroBatchView[];
}

const MAX_TOKENS = 10_000;
const MAX_MICRO_BATCHES = 1_000;
const MAX_TEXT_CHARACTERS = 200;

/** Throws a RangeError if there is no such row. */
export function tokenColumns(batch: StepBatch, row: number): TokenColumns {
  const { offset, id } = batch.tokens;
  if (!(row >= 0 && row < batch.rows))
    throw new RangeError(`the step has rows 0 to ${batch.rows - 1}, not ${row}`);
  const model = stepModel(batch, precisionOf(batch).precision);
  const [start, end] = [offset[row]!, offset[row + 1]!];
  const places = Array.from({ length: Math.min(end - start, MAX_TOKENS) }, (_, at) => start + at);
  model.startRow(row);
  return {
    rows: batch.rows,
    row,
    group: nameOf(batch.group, row),
    trajectory: nameOf(batch.trajectory, row),
    microBatch: model.layout.microBatchOf(row),
    tokens: end - start,
    id: id === undefined ? null : places.map((at) => id[at]!),
    text: batch.idTexts === undefined || id === undefined ? null : places.map((at) => textOf(batch, id[at]!)),
    ...judged(model, row, places),
    microBatches: layoutColumns(model),
  };
}

function judged(model: StepModel, row: number, places: readonly number[]) {
  const { logProb, lossGradient } = model.batch.tokens;
  const { chain, kept, lacks } = model;
  const checks = tokenChecks(model);
  const tokens = places.map((at) => {
    const trained = kept?.[at] !== 0;
    const gradient = lossGradient?.[at];
    model.evaluate(row, at);
    const codes = trained
      ? checks.map((check) => (check.lacks.length > 0 ? CODE.unverifiable : check.judge(chain, at)))
      : [gradient === undefined || gradient === 0 ? CODE.exact : CODE.wrong];
    const broken = codes.indexOf(CODE.wrong);
    const known = lacks.gradient.length > 0 ? null : finite(chain.gradient.value);
    return {
      trained,
      outcome: OUTCOMES[Math.max(...codes)]!,
      breaks: broken < 0 ? null : trained ? checks[broken]!.stage : ('mask' as const),
      logProb: finite(logProb?.[at]),
      ratio: lacks.ratio.length > 0 ? null : finite(chain.ratio.value),
      expected: trained ? known : 0,
      reported: finite(gradient),
    };
  });
  return {
    trained: tokens.map((one) => one.trained),
    outcome: tokens.map((one) => one.outcome),
    breaks: tokens.map((one) => one.breaks),
    logProb: tokens.map((one) => one.logProb),
    ratio: tokens.map((one) => one.ratio),
    expected: tokens.map((one) => one.expected),
    reported: tokens.map((one) => one.reported),
  };
}

function layoutColumns({ batch, layout }: StepModel): MicroBatchView[] {
  return batch.step.microBatches.slice(0, MAX_MICRO_BATCHES).map(({ rank, index, pass }, at) => ({
    ...{ rank, index, pass },
    rows: layout.rowsOfMicroBatch(at),
    tokens: layout.tokensOfMicroBatch(at, 'mask'),
  }));
}

function nameOf(names: Names | undefined, row: number): string | null {
  return names === undefined ? null : cut(names.names[names.ids[row]!]!);
}

function textOf({ idTexts }: StepBatch, id: number): string | null {
  const text = idTexts?.get(id);
  return text === undefined ? null : cut(text, MAX_TEXT_CHARACTERS);
}

/** The position of the first wrong token of a row; 0 if none is wrong. */
export function firstWrongToken(batch: StepBatch, row: number): number {
  const listed = verifyStep(batch).wrongTokens.find((one) => one.row === row);
  return listed?.token ?? Math.max(0, tokenColumns(batch, row).outcome.indexOf('wrong'));
}
