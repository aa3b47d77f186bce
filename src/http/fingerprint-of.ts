import { fingerprint } from '../kernel/fingerprint.ts';
import type { ResolvedSpec } from '../schemas/spec.ts';

/** The kernel's fingerprint of a spec's estimator; null for an engine that replays recorded ones. */
export function fingerprintOf(spec: ResolvedSpec['spec']): string | null {
  if (spec.engine !== 'local') return null;
  const { name, gamma: _gamma, invalidActionPenalty: _penalty, ...parameters } = spec.estimator;
  return fingerprint(name, parameters);
}
