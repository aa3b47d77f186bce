/** Reported values of a step: each is recomputed from the sums of the micro-batches and the stated reduction. */

import { FLOAT32, MAX_SUM_DEPTH } from '../../arithmetic/arithmetic.ts';
import { groupedBy } from '../../base/grouped-by.ts';
import {
  type MeanCounts,
  type MicroBatch,
  REPORTED_KEYS,
  type ReportedKey,
  type ReportedValue,
  type StepSettings,
} from '../../format/step-settings.ts';
import { CODE, judge, OUTCOMES } from '../model/judge.ts';
import type { StepModel } from '../model/model.ts';
import type { ValueReport } from '../model/step-report.ts';
import { errorOfSum, type MicroBatchSums, type Sum, type TokenSums } from '../model/sums.ts';
import { lackingRanks } from './denominator.ts';

/** A value of one micro-batch, with the trainer's possible error. */
export interface Part {
  readonly value: number;
  readonly error: number;
  /** Tokens that it is a mean over. */
  readonly tokens: number;
}

const LOSSES: readonly ReportedKey[] = ['loss', 'policyLoss', 'klLoss', 'entropy'];

/** True for values whose micro-batches are parts of a sum; the others are means over tokens. */
export const isLoss = (key: ReportedKey): boolean => LOSSES.includes(key);

/** The reduction of a key if the step has several micro-batches and states none. */
export function reductionsOf(key: ReportedKey): readonly NonNullable<ReportedValue['reduction']>[] {
  const all = ['sum-of-micro-batches', 'mean-of-micro-batches', 'last-micro-batch', 'sum'] as const;
  return isLoss(key) ? all : ['mean-of-micro-batches', 'tokens', 'last-micro-batch', 'sum'];
}

/** The values of the micro-batches; or what is missing to compute them. */
export function partsOf(
  model: StepModel,
  sums: readonly MicroBatchSums[],
  key: ReportedKey,
  counts: MeanCounts = 'kept',
): { parts: Part[] } | { lacks: readonly string[] } {
  const lacks = [...lackingFor(model, key), ...lackingMask(model, key, counts)];
  if (lacks.length > 0) return { lacks };
  return {
    parts: sums.map((own, at) =>
      isLoss(key) ? lossPart(model, own, { key, at }) : meanPart(model, own, { key, counts }),
    ),
  };
}

function lackingFor(model: StepModel, key: ReportedKey): string[] {
  const isSplit = model.layout.microBatches > 1 && model.batch.microBatch === undefined;
  return [...new Set([...lackingTerms(model, key), ...(isSplit ? ['microBatch'] : [])])];
}

/** With \`kept\` alone, the mask before rejection is not known. */
function lackingMask({ batch: { tokens } }: StepModel, key: ReportedKey, counts: MeanCounts): string[] {
  const isUnknown = counts === 'mask' && tokens.kept !== undefined && tokens.mask === undefined;
  return isUnknown && !isLoss(key) ? ['tokens.mask'] : [];
}

/** The sums over the counted tokens. Without rejection all tokens of the mask are kept. */
function meansOf({ batch }: StepModel, { means }: MicroBatchSums, counts: MeanCounts): TokenSums {
  return batch.tokens.kept === undefined ? means.kept : means[counts];
}

function lackingTerms({ lacks, batch }: StepModel, key: ReportedKey): string[] {
  const column = (name: 'entropy' | 'rolloutLogProb') =>
    batch.tokens[name] === undefined ? [`tokens.${name}`] : [];
  const { loss, weight, kl, aggregation, ratio } = lacks;
  if (key === 'approxKl') return [...ratio];
  if (key === 'rolloutKl') return [...ratio, ...column('rolloutLogProb')];
  if (key === 'clipFraction' || key === 'clipFractionLower') return [...loss];
  if (key === 'entropy') return [...aggregation, ...column('entropy')];
  if (key === 'klLoss') return [...aggregation, ...kl, ...(batch.step.kl === undefined ? ['step.kl'] : [])];
  const own = key === 'loss' ? kl : [];
  const entropy = key === 'loss' && (batch.step.entropyCoefficient ?? 0) !== 0 ? column('entropy') : [];
  return [...new Set([...aggregation, ...loss, ...weight, ...own, ...entropy])];
}

/** The loss that the micro-batch passed to `backward()`, or one of its parts: with the scale. */
function lossPart(
  model: StepModel,
  sums: MicroBatchSums,
  { key, at }: { key: ReportedKey; at: number },
): Part {
  const [ofPolicy, ofKl] = [model.scaleOf(at), model.klScaleOf(at)];
  const { tokens } = meansOf(model, sums, 'mask');
  const of = (sum: Sum, scale: number, factor = 1): Part => ({
    value: sum.value * factor * scale,
    error: Math.abs(factor * scale) * errorOfSum(sum, model.arithmetic),
    tokens,
  });
  if (key === 'policyLoss') return of(sums.policyLoss, ofPolicy);
  if (key === 'klLoss') return of(sums.klLoss, ofKl);
  if (key === 'entropy') return of(sums.entropy, ofPolicy);
  const { kl, entropyCoefficient = 0 } = model.batch.step;
  const parts = [
    of(sums.policyLoss, ofPolicy),
    of(sums.klLoss, ofKl, kl?.placement === 'loss' ? kl.coefficient : 0),
    of(sums.entropy, ofPolicy, -entropyCoefficient),
  ];
  const size = parts.reduce((sum, { value }) => sum + Math.abs(value), 0);
  return {
    value: parts.reduce((sum, { value }) => sum + value, 0),
    error: parts.reduce((sum, { error }) => sum + error, 0) + 4 * model.arithmetic.unit * size,
    tokens,
  };
}

/** A mean over counted tokens of the micro-batch. A count is exact; its division rounds once, and once more in a float32 mean. */
function meanPart(
  model: StepModel,
  sums: MicroBatchSums,
  { key, counts }: { key: ReportedKey; counts: MeanCounts },
): Part {
  const { arithmetic } = model;
  const own = meansOf(model, sums, counts);
  const tokens = Math.max(1, own.tokens);
  if (key === 'approxKl' || key === 'rolloutKl') {
    const sum = own[key];
    return { value: sum.value / tokens, error: errorOfSum(sum, arithmetic) / tokens, tokens };
  }
  const clipped = key === 'clipFraction' ? own.clipped : own.lower;
  const value = (clipped + own.undecided / 2) / tokens;
  return { value, error: own.undecided / 2 / tokens + 4 * arithmetic.sumUnit * value, tokens };
}

/**
 * One value from those of the micro-batches. `sum-of-micro-batches`: the mean over ranks of the sums, which is the loss of the step
 * if each part carries its factor. `tokens`: weighted with the tokens.
 */
export function reduced(parts: readonly Part[], reduction: ReportedValue['reduction'], ranks: number): Part {
  const last = parts.at(-1)!;
  if (parts.length === 1 || reduction === 'last-micro-batch') return last;
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const total = (of: (part: Part) => number) => parts.reduce((sum, part) => sum + of(part), 0);
  // The trainer may add all tokens in one sum, which is deeper than those of its micro-batches.
  const depth = Math.min(tokens, MAX_SUM_DEPTH) * FLOAT32.unit;
  if (reduction === 'tokens') {
    const mean = (of: (part: Part) => number) =>
      total((part) => of(part) * part.tokens) / Math.max(1, tokens);
    const error = mean((part) => part.error) + depth * mean((part) => Math.abs(part.value));
    return { value: mean((part) => part.value), error, tokens };
  }
  const divisors = { 'sum-of-micro-batches': ranks, 'mean-of-micro-batches': parts.length, sum: 1 };
  const divisor = divisors[reduction as keyof typeof divisors];
  return {
    value: total((part) => part.value) / divisor,
    error: total((part) => part.error + (reduction === 'sum' ? depth * Math.abs(part.value) : 0)) / divisor,
    tokens,
  };
}

/** A value of the reported kind, in words if the ranks have several. */
interface Reduced {
  readonly part: Part;
  readonly of: string;
}

/**
 * The values that a reduction can mean. The last micro-batch is that of one rank, whichever logs, or the mean over ranks of their last
 * ones.
 */
export function reductionsTo(
  { layout, batch }: StepModel,
  parts: readonly Part[],
  reduction: ReportedValue['reduction'],
): Reduced[] {
  if (reduction === 'tokens-then-mean')
    return [{ part: tokensThenMean(parts, batch.step.microBatches, layout.ranks), of: '' }];
  if (reduction !== 'last-micro-batch' || parts.length === 1)
    return [{ part: reduced(parts, reduction, layout.ranks), of: '' }];
  const last = new Map<number, Part>();
  batch.step.microBatches.forEach(({ rank }, at) => void last.set(rank, parts[at]!));
  const all = [...last].map(([rank, part]) => ({ part, of: last.size === 1 ? '' : ` of rank ${rank}` }));
  if (all.length === 1) return all;
  const ofRanks = all.map(({ part }) => part);
  return [
    ...all,
    {
      part: reduced(ofRanks, 'mean-of-micro-batches', layout.ranks),
      of: ' of each rank, as a mean over ranks',
    },
  ];
}

/** The mean over the micro-batches of a rank of means over the tokens that all ranks have in the micro-batch of one index. */
function tokensThenMean(parts: readonly Part[], microBatches: readonly MicroBatch[], ranks: number): Part {
  const indices = groupedBy(parts.keys(), (at) => microBatches[at]!.index);
  const means = [...indices.values()].map((own) =>
    reduced(
      own.map((at) => parts[at]!),
      'tokens',
      ranks,
    ),
  );
  return reduced(means, 'mean-of-micro-batches', ranks);
}

/** All reported values: those of `step.reported`, then the losses of the micro-batches. */
export function checkValues(model: StepModel, sums: readonly MicroBatchSums[]): ValueReport[] {
  const { reported, microBatches } = model.batch.step;
  const ofStep = withoutParts(
    (Object.keys(reported) as ReportedKey[]).map((key) => checkValue(model, sums, key)),
    reported,
  );
  const ofMicroBatches = [
    ...checkMicroBatches(model, sums, {
      key: 'loss',
      values: microBatches.map((one) => one.reportedLoss),
      name: (at) => `microBatches[${at}].reportedLoss`,
    }),
    ...REPORTED_KEYS.flatMap((key) =>
      checkMicroBatches(model, sums, {
        key,
        values: microBatches.map((one) => one.reported?.[key]),
        name: (at) => `microBatches[${at}].reported.${key}`,
      }),
    ),
  ];
  return [...ofStep, ...ofMicroBatches];
}

/** If no number of micro-batches gives one of the means, the file of a rank may be missing: no value over all ranks is judged. */
function withoutParts(
  values: readonly ValueReport[],
  reported: StepSettings['reported'],
): readonly ValueReport[] {
  const odd = values.find(({ times }) => times !== undefined);
  if (odd === undefined) return values;
  const lacks = [`the micro-batches of all ranks, which the mean of ${odd.name} contradicts`];
  return values.map((value) =>
    value.times === undefined && value.outcome === 'wrong'
      ? unknown(value.name, reported[value.name as ReportedKey]!, lacks)
      : value,
  );
}

/** One value of each micro-batch that reports it. */
function checkMicroBatches(
  model: StepModel,
  sums: readonly MicroBatchSums[],
  {
    key,
    values,
    name,
  }: {
    readonly key: ReportedKey;
    readonly values: readonly (number | undefined)[];
    readonly name: (at: number) => ValueReport['name'];
  },
): ValueReport[] {
  if (values.every((value) => value === undefined)) return [];
  const found = partsOf(model, sums, key);
  return values.flatMap((value, at): ValueReport[] => {
    if (value === undefined) return [];
    const stated = { value };
    if ('lacks' in found) return [unknown(name(at), stated, found.lacks)];
    return [judged(name(at), stated, found.parts[at]!)];
  });
}

function checkValue(model: StepModel, sums: readonly MicroBatchSums[], key: ReportedKey): ValueReport {
  const stated = model.batch.step.reported[key]!;
  const found = partsOf(model, sums, key, stated.counts);
  if ('lacks' in found) return unknown(key, stated, found.lacks);
  if (stated.lacks !== undefined) return unknown(key, stated, [stated.lacks]);
  const missing = lackingRanks(model.layout);
  if (missing.length > 0) return unknown(key, stated, missing);
  if (stated.hasMore) return ofUnknownNumber(key, stated, found.parts, model.layout.ranks);
  const isOne = found.parts.length === 1;
  if (!isOne && stated.reduction === undefined)
    return unknown(key, stated, [`step.reported.${key}.reduction`]);
  const all = reductionsTo(model, found.parts, stated.reduction);
  const [nearest] = all.toSorted(
    (a, b) => Math.abs(a.part.value - stated.value) - Math.abs(b.part.value - stated.value),
  );
  return judged(key, stated, nearest!.part);
}

/**
 * A mean of more micro-batches than are recorded, the others of which add 0: the sum divided by the mean is their number, a multiple of the
 * ranks that is not below the recorded ones. A sum that is near 0 tells no number.
 */
function ofUnknownNumber(
  name: ReportedKey,
  stated: ReportedValue,
  parts: readonly Part[],
  ranks: number,
): ValueReport {
  const { value, error } = reduced(parts, 'sum', ranks);
  const reported = Math.abs(stated.value);
  const size = Math.sign(stated.value) * value;
  const print = printError(stated);
  const [least, most] = [(size - error) / (reported + print), (size + error) / (reported - print)];
  if (!(reported > print && most - least < 1))
    return unknown(name, stated, ['a sum that is not near 0, to tell the number of micro-batches']);
  const times = Math.round(size / reported);
  if (times >= parts.length && times % ranks === 0 && times >= least && times <= most)
    return judged(name, stated, { value: value / times, error: error / times, tokens: 0 });
  const found = unknown(name, stated, ['a number of micro-batches that gives the mean']);
  return { ...found, times: size / reported };
}

function unknown(name: ValueReport['name'], stated: ReportedValue, lacks: readonly string[]): ValueReport {
  const { value: reported, reduction = null } = stated;
  return {
    name,
    reported,
    expected: Number.NaN,
    error: Number.NaN,
    outcome: 'unverifiable',
    reduction,
    lacks: [...lacks],
  };
}

/** A tracker's digits add half a unit of the last one; a float32 value adds its rounding. */
export function printError({ value, digits }: ReportedValue): number {
  if (!Number.isFinite(value)) return 0;
  if (digits === undefined || value === 0) return 2 ** -24 * Math.abs(value);
  return 0.5 * 10 ** (Math.floor(Math.log10(Math.abs(value))) - digits + 1);
}

function judged(name: ValueReport['name'], stated: ReportedValue, { value, error }: Part): ValueReport {
  const own = error + printError(stated);
  const term = { value, low: value - own, high: value + own };
  const code = judge(stated.value, term, Math.abs(value));
  // A sum that cancels has no relative size of its own: what is admitted is exact.
  const outcome = code === CODE.rounding && own > Math.abs(value) ? 'exact' : OUTCOMES[code]!;
  return {
    name,
    reported: stated.value,
    expected: value,
    error: own,
    outcome,
    reduction: stated.reduction ?? null,
    lacks: [],
  };
}
