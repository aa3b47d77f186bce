import { fingerprint } from 'echelon-verify/kernel/estimators/fingerprint';
import type { ParameterValue } from 'echelon-verify/kernel/estimators/parameters';
import { type EstimatorName, estimatorOf } from 'echelon-verify/kernel/estimators/registry';
import type { ResolvedVerlAgent } from './spec.ts';

type Estimator = ResolvedVerlAgent['estimator'];

/** The kernel's estimator, and its parameters by the fields of verl-agent's. Omitted parameters have their default. */
type Kernel = readonly [EstimatorName, Readonly<Record<string, ParameterValue | undefined>>];

/** What the kernel calls the estimators of verl-agent that have other names or parameters there. */
const KERNELS: Partial<Record<Estimator['name'], (estimator: Estimator) => Kernel>> = {
  ppo: ({ tokenGamma, lambda }) => ['gae', { discount: tokenGamma, lambda, maskedTokens: 'include' }],
  reinforce_plus_plus: ({ baseline, tokenGamma }) =>
    baseline
      ? ['reinforce_plus_plus', { baseline: 'group' }]
      : ['reinforce_plus_plus_token', { discount: tokenGamma, maskedTokens: 'reset' }],
};

/** The kernel's fingerprint of a training's estimator; null for an evaluation. Exact advantages add `precision=float64`. */
export function fingerprintOf(spec: ResolvedVerlAgent): string | null {
  const { recipe, estimator, environment, advantages } = spec;
  if (recipe.endsWith('_eval')) return null;
  const { name, ...fields } = estimator;
  const same = { historyLength: environment.historyLength, ...fields };
  const [kernel, params] = KERNELS[name]?.(estimator) ?? [name as EstimatorName, same];
  const { parameters } = estimatorOf(kernel);
  const stated = Object.entries(params).filter(([key]) => key in parameters);
  const line = fingerprint(kernel, Object.fromEntries(stated));
  return advantages === 'exact' ? line.replace(/\)$/, ',precision=float64)') : line;
}
