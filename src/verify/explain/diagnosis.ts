/** How much a batch can teach, level by level, whether or not its numbers are right. Linear in rows times levels. */

import type { ModelLevel, RowModel } from '../bounds/row-model.ts';
import { truePart } from '../bounds/true-part.ts';
import type { Batch } from '../format/batch.ts';
import type { Diagnosis, LevelDiagnosis, ZeroReasons } from '../report.ts';

/** Diagnoses a batch by its row model. `weightShare` is by weight in HGPO and by |weight * value| in sums. */
export function diagnose(batch: Batch, model: RowModel): Diagnosis {
  const tally = tallyRows(batch, model);
  const carried = tally.weights.reduce((sum, w) => sum + w, 0);
  const levels = model.levels.map((level, i) => {
    return describeLevel(level, carried > 0 ? tally.weights[i]! / carried : 0);
  });
  const reported = batch.reportedAdvantage;
  let roundingOnly = 0;
  for (let row = 0; row < batch.rows; row++) {
    const a = reported?.[row] ?? 0;
    if (model.truth[row] === 0 && a !== 0 && Number.isFinite(a)) roundingOnly++;
  }
  return {
    levels,
    zero: tally.zero,
    signFlipShare: tally.signed > 0 ? tally.flipped / tally.signed : 0,
    roundingOnly,
  };
}

function describeLevel(level: ModelLevel, weightShare: number): LevelDiagnosis {
  const { size, equal } = level.bounds;
  const described = { clusters: 0, singletons: 0, equalClusters: 0, rows: 0, largestSize: 0 };
  for (let c = 0; c < size.length; c++) {
    const n = size[c]!;
    if (n === 0) continue;
    described.clusters++;
    described.rows += n;
    if (n === 1) described.singletons++;
    else if (equal[c] === 1) described.equalClusters++;
    described.largestSize = Math.max(described.largestSize, n);
  }
  const meanSize = described.clusters > 0 ? described.rows / described.clusters : 0;
  return { level: level.level, ...described, meanSize, weightShare };
}

interface Tally {
  /** Weight that each level carried, over all rows. */
  weights: Float64Array;
  zero: ZeroReasons;
  signed: number;
  flipped: number;
}

function tallyRows(batch: Batch, model: RowModel): Tally {
  const { levels, truth, combination } = model;
  const tally: Tally = {
    weights: new Float64Array(levels.length),
    zero: { rows: 0, singleton: 0, equal: 0, atMean: 0 },
    signed: 0,
    flipped: 0,
  };
  const shares = new Float64Array(levels.length);
  for (let row = 0; row < batch.rows; row++) {
    let total = 0;
    let coarsest = 0;
    let equal = false;
    let atMean = false;
    for (let i = 0; i < levels.length; i++) {
      const level = levels[i]!;
      const { value, reason } = truePart(model, level, row);
      const whole = combination === 'weighted' ? level.weight : Math.abs(level.weight * value);
      const share = value === 0 ? 0 : whole;
      shares[i] = share;
      total += share;
      if (level.level === 0) coarsest = value;
      if (reason === 'equal') equal = true;
      if (reason === 'at-mean') atMean = true;
    }
    if (total > 0) for (let i = 0; i < shares.length; i++) tally.weights[i]! += shares[i]! / total;
    if (truth[row] === 0) countZero(tally.zero, equal, atMean);
    else if (coarsest !== 0 && Number.isFinite(truth[row]!)) {
      tally.signed++;
      if (Math.sign(coarsest) !== Math.sign(truth[row]!)) tally.flipped++;
    }
  }
  return tally;
}

function countZero(zero: ZeroReasons, equal: boolean, atMean: boolean): void {
  zero.rows++;
  if (equal) zero.equal++;
  else if (atMean) zero.atMean++;
  else zero.singleton++;
}
