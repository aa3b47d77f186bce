import { fingerprint } from '../../kernel/estimators/fingerprint.ts';
import { estimatorOf } from '../../kernel/estimators/registry.ts';
import type { ResolvedVerlAgent } from './spec.ts';

/** Estimators whose batches state their arithmetic. The kernel's form of verl-agent's others is not verified. */
const STATED = ['hgpo', 'gigpo', 'grpo', 'rloo'] as const;

/**
 * The kernel's fingerprint of a training's estimator; null for an evaluation and for estimators whose batches are not
 * verified. Exact advantages add `precision=float64`.
 */
export function fingerprintOf(spec: ResolvedVerlAgent): string | null {
  const { recipe, estimator, environment, advantages } = spec;
  const name = STATED.find((one) => one === estimator.name);
  if (recipe.endsWith('_eval') || name === undefined) return null;
  const { parameters } = estimatorOf(name);
  const stated = Object.entries({ historyLength: environment.historyLength, ...estimator });
  const line = fingerprint(name, Object.fromEntries(stated.filter(([key]) => key in parameters)));
  return advantages === 'exact' ? line.replace(/\)$/, ',precision=float64)') : line;
}
