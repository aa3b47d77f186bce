import { formOfSettings, type TrainerSettings } from 'echelon-verify/identify';
import { type EstimatorName, estimatorOf, fingerprint } from 'echelon-verify/kernel';
import type { ResolvedVerlAgent } from './spec.ts';

type Estimator = ResolvedVerlAgent['estimator'];

/** The settings of estimators that have other names or parameters in the kernel, by the names of verl-agent's arguments. */
const SETTINGS: Partial<Record<Estimator['name'], (estimator: Estimator) => TrainerSettings>> = {
  ppo: ({ tokenGamma, lambda }) => ({ adv_estimator: 'gae', gamma: tokenGamma, lam: lambda }),
  reinforce_plus_plus: ({ baseline, tokenGamma }) => ({
    adv_estimator: baseline ? 'reinforce_plus_plus_baseline' : 'reinforce_plus_plus',
    gamma: tokenGamma,
  }),
};

/** The kernel's fingerprint of a training's estimator; null for an evaluation. */
export function fingerprintOf(spec: ResolvedVerlAgent): string | null {
  const { recipe, estimator, environment } = spec;
  if (recipe.endsWith('_eval')) return null;
  const { name, ...fields } = estimator;
  const settings = SETTINGS[name]?.(estimator);
  const form = settings && formOfSettings('verl-agent', settings);
  const kernel = form?.estimator ?? (name as EstimatorName);
  const params = form?.params ?? { historyLength: environment.historyLength, ...fields };
  const { parameters } = estimatorOf(kernel);
  const stated = Object.entries(params).filter(([key]) => key in parameters);
  return fingerprint(kernel, Object.fromEntries(stated));
}
