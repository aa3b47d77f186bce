import type { GroupTerm, RowFormula } from '../kernel/estimators/estimator.ts';
import { EPSILON } from '../kernel/estimators/shared.ts';
import type { StagePlan } from '../kernel/stages/chain.ts';
import type { DivideByDeviation } from '../kernel/stages/divide-by-deviation.ts';
import type { Stage } from '../kernel/stages/table.ts';

/**
 * A chain as a single term over groups, if it is one: GRPO and RLOO with their usual parameters. The bounds of a term know which
 * means float32 can give, those of a stage only an interval of them, so that a term finds smaller changes. Undefined for any other
 * chain.
 */
export function termOfChain(plan: StagePlan): RowFormula | undefined {
  const { stages, singleton, missing, statistics = 'rows', perReward } = plan;
  const [first, division, ...others] = stages;
  if (perReward !== undefined || missing !== 'propagate' || singleton === 'nan' || others.length > 0)
    return undefined;
  const norm = normOf(first, division);
  if (norm === undefined) return undefined;
  const { deviation, epsilon } = (division ?? UNDIVIDED) as DivideByDeviation;
  const term: GroupTerm = {
    over: 'group',
    norm,
    deviation,
    singleton,
    statistics,
    weight: 1,
    overTokens: false,
  };
  return { combination: 'sum', terms: [term], epsilon, weightEpsilon: epsilon };
}

/** Without effect: nothing is divided. */
const UNDIVIDED = { deviation: 'sample', epsilon: EPSILON.default } as const;

function normOf(first: Stage | undefined, division: Stage | undefined): GroupTerm['norm'] | undefined {
  if (first?.do === 'subtract-others') return division === undefined ? 'leave-one-out' : undefined;
  if (first?.do !== 'subtract-mean' || !isOfRows(first)) return undefined;
  if (division === undefined) return 'none';
  return isOwnDeviation(division) ? 'deviation' : undefined;
}

function isOwnDeviation(stage: Stage): boolean {
  if (stage.do !== 'divide-by-deviation' || !isOfRows(stage) || stage.of !== 'scores') return false;
  return !stage.others && stage.epsilonPlace === 'added' && stage.guard === undefined;
}

function isOfRows({ set }: Pick<DivideByDeviation, 'set'>): boolean {
  return set.over === 'group' && set.weight === 'row';
}
