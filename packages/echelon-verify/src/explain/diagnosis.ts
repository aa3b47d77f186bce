/** How much a batch can teach, level by level, whether or not its numbers are right. Linear in rows times levels. */

import type { ModelLevel, RowModel } from '../bounds/row-model.ts';
import { eachTruePart } from '../bounds/true-part.ts';
import type { Batch } from '../format/batch.ts';
import type { Diagnosis, LevelDiagnosis, ZeroReasons } from '../report/report.ts';

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
    partsDisagree: tally.disagreeing / Math.max(1, batch.rows),
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
  /** Rows with parts of both signs. */
  disagreeing: number;
}

function tallyRows(batch: Batch, model: RowModel): Tally {
  const { levels, truth, combination } = model;
  const tally: Tally = {
    weights: new Float64Array(levels.length),
    zero: { rows: 0, singleton: 0, equal: 0, atMean: 0 },
    signed: 0,
    flipped: 0,
    disagreeing: 0,
  };
  const { rows } = batch;
  const total = new Float64Array(rows);
  const coarsest = new Float64Array(rows);
  const reasons = new Uint8Array(rows);
  const signs = new Uint8Array(rows);
  const shares = levels.map((level) => {
    const own = new Float64Array(rows);
    eachTruePart(model, level, { from: 0, to: rows }, (row, value, reason) => {
      if (level.level === 0) coarsest[row] = value;
      if (reason === 'equal') reasons[row]! |= EQUAL;
      else if (reason === 'at-mean') reasons[row]! |= AT_MEAN;
      if (value === 0) return;
      signs[row]! |= level.weight * value > 0 ? 1 : 2;
      own[row] = combination === 'weighted' ? level.weight : Math.abs(level.weight * value);
      total[row]! += own[row]!;
    });
    return own;
  });
  shares.forEach((own, i) => {
    let weight = 0;
    for (let row = 0; row < rows; row++) if (total[row]! > 0) weight += own[row]! / total[row]!;
    tally.weights[i] = weight;
  });
  for (let row = 0; row < rows; row++) {
    if (signs[row] === 3) tally.disagreeing++;
    const [truly, first] = [truth[row]!, coarsest[row]!];
    if (truly === 0) countZero(tally.zero, reasons[row]!);
    else if (first !== 0 && Number.isFinite(truly)) {
      tally.signed++;
      if (Math.sign(first) !== Math.sign(truly)) tally.flipped++;
    }
  }
  return tally;
}

/** Bits for the reasons why the levels of a row give nothing. */
const EQUAL = 1;
const AT_MEAN = 2;

function countZero(zero: ZeroReasons, reasons: number): void {
  zero.rows++;
  if ((reasons & EQUAL) !== 0) zero.equal++;
  else if ((reasons & AT_MEAN) !== 0) zero.atMean++;
  else zero.singleton++;
}
