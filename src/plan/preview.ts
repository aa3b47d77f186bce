import { engineOf, fingerprintOf, type ResolvedSpec } from '../engines/registry.ts';
import { commandLine } from './command-line.ts';
import { compilePlan } from './compile-plan.ts';

/**
 * What a resolved spec would run, and what its engine says of it before a cluster is asked. `details`: what the engine
 * knows of its plan besides. Pure.
 */
export function previewPlan(resolved: ResolvedSpec) {
  const { spec } = resolved;
  const engine = engineOf(spec.engine);
  const plan = compilePlan(spec);
  const { changes, corrections, details } = engine.notes?.(spec) ?? {
    changes: [],
    corrections: [],
    details: {},
  };
  return {
    plan,
    commandLine: commandLine(plan),
    fingerprint: fingerprintOf(spec),
    changes: [...changes],
    corrections: [...corrections],
    checks: engine.check?.(resolved) ?? [],
    details,
  };
}
