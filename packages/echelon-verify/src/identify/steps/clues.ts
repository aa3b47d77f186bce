/** Facts that are read off a step's numbers without a guess at the whole arithmetic. */

import { significant } from 'command-kit/number';
import { roundToBfloat16 } from '../../arithmetic/arithmetic.ts';
import type { StepBatch } from '../../format/step-batch.ts';
import type { MeanCounts, ReportedKey } from '../../format/step-settings.ts';
import { COUNTED, MEAN_COUNTS, REPORTED_KEYS } from '../../format/step-settings.ts';
import type { StepModel } from '../../step/model/model.ts';
import type { StepReport } from '../../step/model/step-report.ts';
import { addToken, emptySums, type MicroBatchSums, sumRejected } from '../../step/model/sums.ts';
import { checkDenominators, type DenominatorCheck } from '../../step/stages/denominator.ts';
import {
  isLoss as isLossKey,
  partsOf,
  printError,
  reductionsOf,
  reductionsTo,
} from '../../step/stages/reported-values.ts';

/** Between which ratios the gradient stops, if it stops at another edge than the stated one. */
export function clipEdges(batch: StepBatch, model: StepModel): string[] {
  const { lossGradient, offset } = batch.tokens;
  const { policyLoss, kl } = batch.step;
  const hasKl = kl !== undefined && kl.placement === 'loss';
  if (lossGradient === undefined || model.lacks.loss.length > 0 || hasKl || policyLoss?.name !== 'ppo-clip')
    return [];
  let anyMoves = false;
  const up = { moved: 1, stopped: Number.POSITIVE_INFINITY };
  const down = { moved: 1, stopped: 0 };
  for (let row = 0; row < batch.rows; row++) {
    model.startRow(row);
    for (let token = offset[row]!; token < offset[row + 1]!; token++) {
      if (model.kept?.[token] === 0) continue;
      const { state } = model.evaluate(row, token);
      const moves = lossGradient[token] !== 0;
      anyMoves ||= moves;
      if (Number.isNaN(lossGradient[token])) return ['gradient coefficients are not numbers, as after 0 / 0'];
      if (state.advantage > 0 && moves) up.moved = Math.max(up.moved, state.ratio);
      else if (state.advantage > 0) up.stopped = Math.min(up.stopped, state.ratio);
      else if (state.advantage < 0 && moves) down.moved = Math.min(down.moved, state.ratio);
      else if (state.advantage < 0 && state.ratio < 1) down.stopped = Math.max(down.stopped, state.ratio);
    }
  }
  if (!anyMoves) return ['no trained token has a gradient'];
  const high = 1 + Number(policyLoss.params.clipHigh ?? 0.2);
  const low = 1 - Number(policyLoss.params.clipLow ?? 0.2);
  return [
    ...edgeClue('above', { moved: up.moved, stopped: up.stopped, stated: high, isUp: true }),
    ...edgeClue('below', { moved: down.moved, stopped: down.stopped, stated: low, isUp: false }),
  ];
}

function edgeClue(
  side: string,
  { moved, stopped, stated, isUp }: { moved: number; stopped: number; stated: number; isUp: boolean },
): string[] {
  const isOff = isUp
    ? moved > stated * 1.0001 || stopped < stated * 0.9999
    : moved < stated * 0.9999 || stopped > stated * 1.0001;
  const inOrder = isUp ? moved < stopped : moved > stopped;
  if (!isOff || !inOrder) return [];
  const [from, to] = isUp ? [moved, stopped] : [stopped, moved];
  const edge = Number.isFinite(to)
    ? `between the ratios ${show(from)} and ${show(to)}`
    : `nowhere up to the ratio ${show(from)}`;
  return [`the gradient stops ${side} 1 ${edge}; you said ${show(stated)}`];
}

/** What a reported denominator counts, if it is not what is stated. */
export function denominatorNames(model: StepModel): string[] {
  const wrong = checkDenominators(model)?.find(({ isRight }) => !isRight);
  if (wrong === undefined) return [];
  const fits = countsOf(model, wrong).filter(([, value]) => value === wrong.reported);
  const names = fits.slice(0, 3).map(([name]) => name);
  const text = names.length === 0 ? 'no count of this step' : names.join('; or ');
  return [`${wrong.place} divides by ${wrong.reported}, expected ${wrong.expected}: ${text}`];
}

/** What can be counted at the place of a denominator, by name. */
function countsOf({ layout, batch }: StepModel, { row, expected }: DenominatorCheck): [string, number][] {
  const { kept, sampled } = batch.tokens;
  const own = COUNTED.filter((counts) => (counts === 'kept' ? kept : counts === 'sampled' ? sampled : true));
  const tokens = own.flatMap((counts): [string, number][] => {
    const inScope = (scope: 'global' | 'rank' | 'micro-batch') => layout.tokensOf(row, { counts, scope });
    const places: [string, number][] = [
      ['over everything', inScope('global')],
      ['of the rank', inScope('rank')],
      ['of the micro-batch', inScope('micro-batch')],
      ['of the row', layout.tokensOfRow(row, { counts })],
      ['of the group', layout.hasGroups ? layout.tokensOfGroup(row, { counts }) : Number.NaN],
      ['with one for each empty row', layout.tokensWithEmptyRows(counts)],
    ];
    return places.map(([place, value]) => [`tokens counted by ${counts}, ${place}`, value]);
  });
  return [
    ...tokens,
    ['the count in bfloat16', roundToBfloat16(expected)],
    ['rows of the micro-batch', layout.rowsOfMicroBatch(layout.microBatchOf(row))],
    ['all rows', batch.rows],
    ['the count divided by the ranks', expected / layout.ranks],
    ['the count times the ranks', expected * layout.ranks],
  ];
}

/** What a wrong reported value is: another reduction, another value, or with a factor of the layout. */
export function valueNames(model: StepModel, { values, stages }: StepReport): string[] {
  const wrong = values.filter(
    ({ name, outcome }) =>
      outcome !== 'exact' && outcome !== 'rounding' && (REPORTED_KEYS as readonly string[]).includes(name),
  );
  if (wrong.length === 0) return [];
  const sums = allSums(model);
  // With another arithmetic than the stated one, or other trained tokens, no loss is the expected one either.
  const isOther = stages.some(
    ({ stage, wrong: count }) => (stage === 'gradient' || stage === 'mask') && count > 0,
  );
  return wrong.flatMap(({ name, reported, reduction }) => {
    const fits = fitting(model, sums, { name: name as ReportedKey, reported });
    if (fits.length === 0 && isOther && isLossKey(name as ReportedKey)) return [];
    const said = reduction === null ? '' : `; you said ${reduction}`;
    const text = fits.length === 0 ? 'no known reduction gives it' : fits.slice(0, 4).join('; or ');
    return [`reported ${name} ${show(reported)}: ${text}${said}`];
  });
}

function allSums(model: StepModel): MicroBatchSums[] {
  const { batch, layout, kept } = model;
  const { offset } = batch.tokens;
  const sums = emptySums(layout.microBatches);
  for (let row = 0; row < batch.rows; row++) {
    model.startRow(row);
    const own = sums[layout.microBatchOf(row)]!;
    for (let token = offset[row]!; token < offset[row + 1]!; token++) {
      if (kept?.[token] === 0) sumRejected(own, model, { row, token });
      else {
        model.evaluate(row, token);
        addToken(own, model, { row, token });
      }
    }
  }
  return sums;
}

/** Another count in place of the mask in a mean over all tokens: the same factor only then. */
function countFactors({ layout }: StepModel): [number, string][] {
  const at = (counts: 'mask' | 'kept' | 'all') => layout.tokensOf(0, { counts, scope: 'global' });
  const all: [number, string][] = [
    [at('mask') / at('kept'), ' divided by the tokens that rejection kept'],
    [at('mask') / at('all'), ' divided by all tokens, untrained ones included'],
  ];
  return all.filter(([factor]) => factor !== 1);
}

const REDUCTION_TEXT = {
  'sum-of-micro-batches': 'the sum of the micro-batches, as a mean over ranks',
  'mean-of-micro-batches': 'the mean of the micro-batches',
  'last-micro-batch': 'the last micro-batch',
  sum: 'the sum over micro-batches and ranks',
  tokens: 'the mean over tokens',
  'tokens-then-mean': 'the mean over micro-batches of means over the tokens of all ranks',
};

function fitting(
  model: StepModel,
  sums: readonly MicroBatchSums[],
  { name, reported }: { name: ReportedKey; reported: number },
): string[] {
  const { layout } = model;
  const stated = model.batch.step.reported[name] ?? { value: reported };
  // Of equal factors the last one has the name, at the place of the first: with one rank, 1 is no factor.
  const factors = new Map<number, string>([
    [1, ''],
    [-1, ' with the opposite sign'],
    [1 / layout.microBatches, ' divided by all micro-batches'],
    [layout.ranks, ' times the ranks'],
    [1 / layout.ranks, ' divided by the ranks'],
    ...countFactors(model),
    [1, ''],
  ]);
  const { kl, entropyCoefficient = 0 } = model.batch.step;
  const hasMore = kl?.placement === 'loss' || entropyCoefficient !== 0;
  const isLoss = hasMore && (name === 'loss' || name === 'policyLoss');
  const keys: readonly ReportedKey[] = isLoss ? [name, name === 'loss' ? 'policyLoss' : 'loss'] : [name];
  return keys.flatMap((key) => {
    return meansOver(model, key).flatMap(([counts, tokens]) => {
      const found = partsOf(model, sums, key, counts);
      if ('lacks' in found) return [];
      return reductionsOf(key).flatMap((reduction) =>
        reductionsTo(model, found.parts, reduction).flatMap(({ part, of }) =>
          [...factors].flatMap(([factor, text]) => {
            const error = part.error * Math.abs(factor) + printError(stated);
            const isNear = Math.abs(part.value * factor - reported) <= error;
            const what =
              key === name
                ? ''
                : key === 'loss'
                  ? ', with the KL and entropy terms'
                  : ', the policy term alone';
            return isNear ? [`it is ${REDUCTION_TEXT[reduction]}${of}${what}${tokens}${text}`] : [];
          }),
        ),
      );
    });
  });
}

/** The tokens that a mean can be over, in words if they are not the only ones. */
function meansOver({ batch }: StepModel, key: ReportedKey): [MeanCounts, string][] {
  if (batch.tokens.kept === undefined || isLossKey(key)) return [['kept', '']];
  const texts = { mask: ' of the mask before rejection', kept: ' that rejection kept' };
  return MEAN_COUNTS.map((counts) => [counts, `, over the tokens${texts[counts]}`]);
}

const show = (value: number): string => significant(value, 6);
