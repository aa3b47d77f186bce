import type { GigpoParameters } from './gigpo.ts';
import { GIGPO_RECIPE } from './gigpo.ts';
import type { GrpoParameters } from './grpo.ts';
import { GRPO_RECIPE } from './grpo.ts';
import type { HgpoParameters } from './hgpo.ts';
import { completeHgpo, HGPO_RECIPE } from './hgpo.ts';
import type { RlooParameters } from './rloo.ts';
import { RLOO_RECIPE } from './rloo.ts';

/** The parameters of each estimator, by its name. */
export interface EstimatorParameters {
  readonly hgpo: HgpoParameters;
  readonly gigpo: GigpoParameters;
  readonly grpo: GrpoParameters;
  readonly rloo: RlooParameters;
}

/** The estimators' names. */
export type EstimatorName = keyof EstimatorParameters;

/**
 * Says in one line everything that changes the number, what is left out being as in the recipe, e.g.
 * `hgpo(K=2,mean_std_norm,alpha=1,base=off,std=population,eps=1e-6,singleton=drop,zero=drop,weight=k+2)`.
 * A variant that the short form does not name is appended, so two fingerprints are equal exactly where the
 * estimators are.
 */
export function fingerprint<N extends EstimatorName>(
  name: N,
  parameters: Partial<EstimatorParameters[N]>,
): string {
  return `${name}(${parts[name](parameters).join(',')})`;
}

const parts: { readonly [N in EstimatorName]: (parameters: Partial<EstimatorParameters[N]>) => string[] } = {
  hgpo: (parameters) => {
    const p = completeHgpo(parameters);
    const normalized = p.mode === 'mean_std_norm';
    return [
      `K=${p.historyLength}`,
      p.mode,
      `alpha=${number(p.lengthWeightAlpha)}`,
      `base=${p.baseGroup ? 'on' : 'off'}`,
      ...(normalized ? [`std=${p.deviation}`] : []),
      `eps=${number(p.epsilon)}`,
      `singleton=${p.singleton}`,
      `zero=${p.zero}`,
      `weight=k+${p.weightOffset}`,
      ...(normalized ? unusual('eps-place', p.epsilonPlace, HGPO_RECIPE.epsilonPlace) : []),
      ...unusual('weight-eps', number(p.weightEpsilon), number(p.epsilon)),
      ...(p.baseGroup && normalized ? unusual('base-std', p.baseDeviation, HGPO_RECIPE.baseDeviation) : []),
      ...(p.baseGroup ? unusual('base-singleton', p.baseSingleton, HGPO_RECIPE.baseSingleton) : []),
      ...(p.baseGroup ? unusual('base-over', p.baseStatistics, HGPO_RECIPE.baseStatistics) : []),
    ];
  },
  gigpo: (parameters) => {
    const p = { ...GIGPO_RECIPE, ...parameters };
    const normalized = p.mode === 'mean_std_norm';
    return [
      p.mode,
      `step-weight=${number(p.stepAdvantageWeight)}`,
      ...(normalized ? [`std=${p.deviation}`, `eps=${number(p.epsilon)}`] : []),
      `singleton=${p.singleton}`,
      `over=${p.statistics}`,
      ...(normalized ? unusual('eps-place', p.epsilonPlace, GIGPO_RECIPE.epsilonPlace) : []),
    ];
  },
  grpo: (parameters) => {
    const p = { ...GRPO_RECIPE, ...parameters };
    return [
      `std=${p.normalizeByStd ? p.deviation : 'none'}`,
      ...(p.normalizeByStd ? [`eps=${number(p.epsilon)}`] : []),
      `singleton=${p.singleton}`,
      `over=${p.statistics}`,
      ...(p.normalizeByStd ? unusual('eps-place', p.epsilonPlace, GRPO_RECIPE.epsilonPlace) : []),
      ...unusual('baseline', p.baseline, GRPO_RECIPE.baseline),
    ];
  },
  rloo: (parameters) => {
    const p = { ...RLOO_RECIPE, ...parameters };
    return [`singleton=${p.singleton}`, `over=${p.statistics}`];
  },
};

function unusual(key: string, value: string, usual: string): string[] {
  return value === usual ? [] : [`${key}=${value}`];
}

/** The shortest text that reads back as the same number, with 1e-6 as people write it. */
function number(value: number): string {
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential() : String(value);
}
