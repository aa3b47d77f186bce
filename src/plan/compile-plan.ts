import type { LaunchPlan } from '../core/launch-plan.ts';
import { engineOf, type ResolvedSpec } from '../engines/registry.ts';

/**
 * Compiles a resolved spec into its launch plan. Pure; the same spec gives the same plan. Throws EchelonError
 * `invalid-spec` if this version does not have the engine of a recorded spec.
 */
export function compilePlan(spec: ResolvedSpec['spec']): LaunchPlan {
  const compiled = engineOf(spec.engine).compile(spec);
  return {
    engine: spec.engine,
    module: `echelon_rayworker.engines.${spec.engine.replaceAll('-', '_')}`,
    arguments: compiled.arguments,
    environment: compiled.environment ?? {},
    gpus: spec.resources.gpus,
    cpus: spec.resources.cpus,
    gracePeriodMs: Math.round(spec.gracePeriodSeconds * 1000),
    files: compiled.files ?? {},
    // Absent in records of older versions.
    ...(Object.keys(spec.secrets ?? {}).length > 0 ? { secrets: spec.secrets } : {}),
  };
}
