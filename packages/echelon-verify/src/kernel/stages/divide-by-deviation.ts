import { emptyColumn, type IntervalColumn, put, radiusOf } from '../../arithmetic/interval.ts';
import { forEachOthers, type RowSet, setSums } from '../sets/row-sets.ts';
import { exactSets, type SetBounds, valueSets } from '../sets/set-bounds.ts';
import { type Deviation, type EpsilonPlace, epsilonAdded } from '../sets/spread.ts';
import { type Divisors, divider, type Guard } from './division.ts';
import { type Chain, type ChainSets, eachRow, type StageKind, setsOf, setText } from './stage.ts';

/** Division by the deviation of `of`: the scores that the chain starts with, or the current column. */
export interface DivideByDeviation {
  readonly do: 'divide-by-deviation';
  readonly set: RowSet;
  readonly of: 'scores' | 'current';
  /** Use the deviation of the other rows of the set. */
  readonly others: boolean;
  readonly deviation: Deviation;
  readonly epsilon: number;
  readonly epsilonPlace: EpsilonPlace;
  readonly guard?: Guard;
}

/** See {@link DivideByDeviation}. */
export const DIVIDE_BY_DEVIATION: StageKind<DivideByDeviation> = {
  text({ set, of, others, deviation, epsilon, epsilonPlace, guard }) {
    const whose = others ? 'the others of ' : '';
    const what = of === 'scores' ? 'scores' : 'these values';
    const above = guard === undefined ? '' : `, only above ${guard.above}`;
    return `over the ${deviation} deviation of ${what} in ${whose}${setText(set)}, epsilon ${epsilon} (${epsilonPlace})${above}`;
  },
  run(stage, chain, x) {
    const sets = setsOf(stage.set, stage.deviation, chain, stage.of === 'scores' ? chain.scores : x);
    const { ids, bounds } = sets;
    const isNaNAlone = stage.set.over === 'group' && chain.rules.singleton === 'nan';
    const divide = divider(chain, x, divisorsOf(stage, chain, sets), stage.guard);
    return eachRow(chain, (row, out) => {
      const set = ids[row]!;
      if (isNaNAlone && bounds.rows[set] === 1) put(out, row, Number.NaN, Number.NaN, Number.NaN);
      else divide(out, row, stage.others ? row : set);
    });
  },
};

/** True variances, and deviations: one entry per set, or per row. */
interface Spreads {
  readonly variance: Float64Array;
  readonly bare: IntervalColumn;
}

function divisorsOf(stage: DivideByDeviation, chain: Chain, sets: ChainSets): Divisors {
  const { ids, bounds } = sets;
  const { variance, bare } = stage.others ? spreadsOfOthers(stage, chain, sets) : spreadsOf(bounds);
  if (stage.set.over === 'group') {
    // One value has no sample deviation; its population deviation is 0.
    const ofOne = chain.rules.singleton === 'raw' ? 1 : 0;
    for (let at = 0; at < variance.length; at++) {
      if (bounds.rows[stage.others ? ids[at]! : at] !== 1) continue;
      variance[at] = bare.value[at] = bare.low[at] = bare.high[at] = ofOne;
    }
  }
  const end = (sigma: number) => epsilonAdded(stage, sigma, sigma * sigma);
  const value = bare.value.map((sigma, at) => epsilonAdded(stage, sigma, variance[at]!));
  if (chain.isExact) return { bare, whole: { value, low: value, high: value } };
  return { bare, whole: { value, low: bare.low.map(end), high: bare.high.map(end) } };
}

function spreadsOf({ variance, deviation, deviationLow, deviationHigh }: SetBounds): Spreads {
  const bare = { value: deviation.slice(), low: deviationLow.slice(), high: deviationHigh.slice() };
  return { variance: variance.slice(), bare };
}

function spreadsOfOthers({ deviation }: DivideByDeviation, chain: Chain, { ids, x }: ChainSets): Spreads {
  const radius = radiusOf(x);
  const bare = emptyColumn(x.value.length, chain.isExact);
  const variance = new Float64Array(x.value.length);
  forEachOthers(ids, chain.standIn, (row, others) => {
    // The deviation of one value is 0 in every form: x² − x² has no rounding of its own.
    if (others.length < 2) return;
    const column = {
      ids: new Int32Array(others.length),
      sets: 1,
      value: Float64Array.from(others, (other) => x.value[other]!),
      radius: Float64Array.from(others, (other) => radius[other]!),
    };
    const bounds = chain.isExact
      ? exactSets(setSums(column.ids, 1, column.value), deviation)
      : valueSets(column, deviation, { arithmetic: chain.arithmetic, forms: 'any' });
    variance[row] = bounds.variance[0]!;
    put(bare, row, bounds.deviation[0]!, bounds.deviationLow[0]!, bounds.deviationHigh[0]!);
  });
  return { variance, bare };
}
