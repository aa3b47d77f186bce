import { fingerprint } from '../../kernel/estimators/fingerprint.ts';
import { estimatorOf, isEstimatorName } from '../../kernel/estimators/registry.ts';
import type { ResolvedVerlAgent } from './spec.ts';

/**
 * The kernel's fingerprint of a training's estimator; null for an evaluation and for estimators that the kernel does
 * not have. Exact advantages add `precision=float64`.
 */
export function fingerprintOf(spec: ResolvedVerlAgent): string | null {
  const { recipe, estimator, environment, advantages } = spec;
  const { name } = estimator;
  if (recipe.endsWith('_eval') || !isEstimatorName(name)) return null;
  const { parameters } = estimatorOf(name);
  const stated = Object.entries({ historyLength: environment.historyLength, ...estimator });
  const line = fingerprint(name, Object.fromEntries(stated.filter(([key]) => key in parameters)));
  return advantages === 'exact' ? line.replace(/\)$/, ',precision=float64)') : line;
}
