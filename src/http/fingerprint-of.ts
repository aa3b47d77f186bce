import { fingerprint } from '../kernel/fingerprint.ts';
import type { ResolvedSpec, ResolvedVerlAgent } from '../schemas/spec.ts';

/**
 * The kernel's fingerprint of a spec's estimator; null for an engine that replays recorded ones, for an evaluation
 * and for estimators that the kernel does not have. Exact advantages of verl-agent add `precision=float64`.
 */
export function fingerprintOf(spec: ResolvedSpec['spec']): string | null {
  if (spec.engine === 'replay') return null;
  if (spec.engine === 'verl-agent') return ofVerlAgent(spec);
  const { name, gamma: _gamma, invalidActionPenalty: _penalty, ...parameters } = spec.estimator;
  return fingerprint(name, parameters);
}

function ofVerlAgent({ recipe, estimator, environment, advantages }: ResolvedVerlAgent): string | null {
  if (recipe.endsWith('_eval')) return null;
  const { name, mode, lengthWeightAlpha, baseGroup, stepAdvantageWeight, normalizeByStd } = estimator;
  switch (name) {
    case 'hgpo': {
      const { historyLength } = environment;
      const line = fingerprint(name, given({ historyLength, mode, lengthWeightAlpha, baseGroup }));
      return advantages === 'exact' ? line.replace(/\)$/, ',precision=float64)') : line;
    }
    case 'gigpo':
      return fingerprint(name, given({ mode, stepAdvantageWeight }));
    case 'grpo':
      return fingerprint(name, given({ normalizeByStd }));
    case 'rloo':
      return fingerprint(name, {});
    default:
      return null;
  }
}

/** The values that are there. */
function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
