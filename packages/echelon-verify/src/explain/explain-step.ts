/** Explains one token: the chain from its log-probs to its gradient coefficient, and the first stage that breaks. */

import { significant } from 'command-kit/number';
import { errorOf } from '../arithmetic/interval.ts';
import type { StepBatch } from '../format/step-batch.ts';
import type { RowOutcome } from '../report/report.ts';
import { CODE, OUTCOMES } from '../step/model/judge.ts';
import { integersOf } from '../step/model/layout.ts';
import type { StepModel } from '../step/model/model.ts';
import { STAGES, type StageName } from '../step/model/step-report.ts';
import { stepModel } from '../step/stages/chain.ts';
import { maskFault } from '../step/stages/exact-checks.ts';
import { comparisons, EXACT_STAGES, type TokenCheck } from '../step/stages/table.ts';
import { precisionOf } from '../step/verify-step.ts';

/** One line of the chain. */
export interface ChainLine {
  readonly stage: StageName | 'log-prob' | 'divisor';
  readonly title: string;
  /** null: not known, because the step lacks a column. */
  readonly value: number | null;
  /** How far a correct trainer's number may be off. */
  readonly error: number | null;
  readonly reported: number | null;
  readonly outcome: RowOutcome | null;
  readonly note: string;
}

/** The explanation of a token. */
export interface TokenExplanation {
  readonly batch: string;
  readonly row: number;
  /** Position in the row. */
  readonly token: number;
  readonly outcome: RowOutcome;
  /** The first stage that breaks; null if none does. */
  readonly breaks: StageName | null;
  readonly group: string | null;
  readonly trajectory: string | null;
  readonly microBatch: number;
  readonly lines: readonly ChainLine[];
  /** Likely causes, the nearest first. */
  readonly causes: readonly string[];
}

/** Explains the token at a position of a row. Throws a RangeError if there is no such token. */
export function explainToken(batch: StepBatch, row: number, token: number): TokenExplanation {
  const { offset } = batch.tokens;
  const at = (offset[row] ?? Number.NaN) + token;
  if (!(row >= 0 && row < batch.rows && token >= 0 && at < offset[row + 1]!))
    throw new RangeError(`batch ${batch.name}: there is no token ${token} of row ${row}`);
  const model = stepModel(batch, precisionOf(batch).precision);
  model.startRow(row);
  model.evaluate(row, at);
  const isTrained = model.kept?.[at] !== 0;
  const lines = [
    ...exactLines(batch, at),
    ...(isTrained ? chainLines(model, row, at) : untrainedLines(batch, at)),
  ];
  const outcomes = lines.flatMap(({ outcome }) => outcome ?? []);
  const breaks = lines.find(({ outcome }) => outcome === 'wrong')?.stage ?? null;
  const order: readonly RowOutcome[] = ['wrong', 'unverifiable', 'rounding', 'exact'];
  return {
    batch: batch.name,
    row,
    token,
    outcome: order.find((one) => outcomes.includes(one)) ?? 'unverifiable',
    breaks: breaks === 'log-prob' || breaks === 'divisor' ? null : breaks,
    group: nameOf(batch, 'group', row),
    trajectory: nameOf(batch, 'trajectory', row),
    microBatch: model.layout.microBatchOf(row),
    lines,
    causes: isTrained ? causesOf(model, row, at) : untrainedCauses(model, at),
  };
}

function nameOf(batch: StepBatch, key: 'group' | 'trajectory', row: number): string | null {
  const column = batch[key];
  return column === undefined ? null : column.names[column.ids[row]!]!;
}

/** The exact stages that the token breaks. */
function exactLines(batch: StepBatch, at: number): ChainLine[] {
  const { id, sampledId } = batch.tokens;
  const found = EXACT_STAGES.filter(({ of }) => {
    let isWrong = false;
    of.check(batch, (token) => {
      isWrong ||= token === at;
    });
    return isWrong;
  });
  return found.map(({ stage }) => {
    const isId = stage === 'tokens';
    const value = isId ? sampledId![at]! : null;
    const reported = isId ? id![at]! : null;
    return {
      stage,
      title: stage,
      value,
      error: isId ? 0 : null,
      reported,
      outcome: 'wrong',
      note:
        stage === 'mask' ? `fails: the token is ${maskFault(batch.tokens, at)}` : `fails: ${STAGES[stage]}`,
    };
  });
}

/** A token outside the mask has no gradient. */
function untrainedLines({ tokens }: StepBatch, at: number): ChainLine[] {
  const { lossGradient } = tokens;
  const reported = lossGradient === undefined ? null : lossGradient[at]!;
  const outcome = reported === null ? 'unverifiable' : reported === 0 ? 'exact' : 'wrong';
  const note = 'the token is outside the mask, so it has no gradient';
  return [{ stage: 'mask', title: 'gradient', value: 0, error: 0, reported, outcome, note }];
}

/** Why a token outside the mask may have a gradient. */
function untrainedCauses({ batch, chain, lacks }: StepModel, at: number): string[] {
  const reported = batch.tokens.lossGradient?.[at];
  if (reported === undefined || reported === 0 || lacks.gradient.length > 0) return [];
  const { low, high } = chain.gradient;
  return reported >= low && reported <= high
    ? ['the loss is not multiplied by the mask: the token has the gradient of a trained one']
    : [];
}

/** The log-prob, the stages that the token passes, and the divisor before the gradient. */
function chainLines(model: StepModel, row: number, at: number): ChainLine[] {
  const lines = comparisons(model).map((check) => stageLine(model, check, at));
  return [logProbLine(model, at), ...lines.slice(0, -1), divisorLine(model, row), ...lines.slice(-1)];
}

function stageLine(
  model: StepModel,
  { stage, of, reported, lacks, term, judge }: TokenCheck,
  at: number,
): ChainLine {
  const { chain } = model;
  const isJudged = reported !== undefined || stage === 'gradient';
  const code = lacks.length > 0 || reported === undefined ? CODE.unverifiable : judge(chain, at);
  const found = lacks.length > 0 ? undefined : term(chain, at);
  return {
    stage,
    title: of.title,
    value: found?.value ?? null,
    error: found === undefined ? null : errorOf(found),
    reported: reported?.[at] ?? null,
    outcome: isJudged ? OUTCOMES[code]! : null,
    note: noteOf(lacks, of.note?.(model)),
  };
}

const noteOf = (lacks: readonly string[], note = ''): string =>
  lacks.length > 0 ? `needs ${lacks.join(', ')}` : note;

/** A line of a number without an outcome. */
function inputLine(
  stage: 'log-prob' | 'divisor',
  { value, lacks, note }: { value: number; lacks: readonly string[]; note: string },
): ChainLine {
  const [known, error] = lacks.length > 0 ? [null, null] : [value, 0];
  return {
    stage,
    title: stage,
    value: known,
    error,
    reported: null,
    outcome: null,
    note: noteOf(lacks, note),
  };
}

function logProbLine({ batch: { tokens }, chain, lacks }: StepModel, at: number): ChainLine {
  const old = (tokens.oldLogProb ?? tokens.logProb)?.[at] ?? Number.NaN;
  const note = `old ${show(old)}, difference ${show(chain.state.logRatio)}`;
  return inputLine('log-prob', { value: tokens.logProb?.[at] ?? Number.NaN, lacks: lacks.ratio, note });
}

function divisorLine(model: StepModel, row: number): ChainLine {
  const { batch, lacks, layout } = model;
  const { aggregation } = batch.step;
  const scale = show(model.scaleOf(layout.microBatchOf(row)));
  const note = `${aggregation?.mode} ${aggregation?.scope}, times ${scale}`;
  return inputLine('divisor', { value: model.divisorOf(row), lacks: lacks.aggregation, note });
}

/** Simple relations between the reported gradient and the parts of the expected one. */
function causesOf(model: StepModel, row: number, at: number): string[] {
  const { batch, chain, lacks, layout } = model;
  const reported = batch.tokens.lossGradient?.[at];
  if (reported === undefined || lacks.gradient.length > 0) return [];
  const { policyPart, klPart, gradient, state, weight, loss } = chain;
  if (reported >= gradient.low && reported <= gradient.high) return [];
  const size = Math.abs(policyPart.value) + Math.abs(klPart.value);
  const isNear = (value: number) =>
    Math.abs(reported - value) <= 8 * errorOf(gradient) + 1e-6 * Math.abs(value);
  const rest = klPart.value;
  const unclipped =
    (-state.advantage * state.ratio * model.scaleOf(layout.microBatchOf(row))) / model.divisorOf(row);
  const causes: [boolean, string][] = [
    [rest !== 0 && isNear(policyPart.value), 'the KL term has no gradient'],
    [rest !== 0 && isNear(policyPart.value - rest), 'the KL term has the opposite sign'],
    [rest !== 0 && isNear(rest), 'the policy term has no gradient'],
    [isNear(-gradient.value), 'the sign is reversed'],
    [loss.side > 0 && isNear(unclipped + rest), 'the clip has no effect on this token'],
    [
      loss.side === 0 && reported === 0 && size > 0,
      'the token is clipped, masked or detached although it should move',
    ],
    [
      weight.value > 0 && weight.value !== 1 && isNear(policyPart.value / weight.value + rest),
      'the rollout weight is missing',
    ],
    [
      isNear(policyPart.value / state.ratio + rest) && state.ratio !== 1,
      'the ratio is 1: the old log-probs have no effect',
    ],
    ...factorCauses(model, row, reported / gradient.value),
  ];
  return causes.filter(([holds]) => holds).map(([, text]) => text);
}

/** Counts of the layout by which the gradient may be divided in place of the stated one. */
function factorCauses({ layout, batch }: StepModel, row: number, factor: number): [boolean, string][] {
  const is = (value: number) => value !== 1 && Math.abs(factor / value - 1) < 1e-5;
  const integers = integersOf(batch, layout).flatMap(([name, integer]): [boolean, string][] => [
    [is(integer), `a factor ${integer} too much, the number of ${name}`],
    [is(1 / integer), `divided once more by ${integer}, the number of ${name}`],
  ]);
  const { mode, scope, counts } = batch.step.aggregation!;
  if (mode !== 'token-mean' || scope !== 'global') return integers;
  const tokens = (own: 'global' | 'rank' | 'micro-batch') => layout.tokensOf(row, { counts, scope: own });
  const parts = [
    ['micro-batch', layout.ranks * layout.microBatchesOfRank(0)],
    ['rank', layout.ranks],
  ] as const;
  const means = parts.flatMap(([own, number]): [boolean, string][] => {
    const share = tokens('global') / tokens(own);
    const divided = `divided by the ${tokens(own)} tokens of the ${own} instead of all ${tokens('global')}`;
    return [
      [is(share), divided],
      [number > 1 && is(share / number), `${divided}, and averaged over the ${number}`],
    ];
  });
  return [...integers, ...means];
}

const show = (value: number): string => significant(value, 8);
