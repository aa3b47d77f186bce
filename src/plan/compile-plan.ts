import { engineOf, type ResolvedSpec } from '../engines/registry.ts';

/**
 * What a ray-worker runs: `python -m module arguments…`. `{attemptDir}`, `{experimentDir}` and `{sharedRoot}` in an
 * argument or a variable are replaced on the cluster. `files` are written into the attempt's directory.
 */
export interface LaunchPlan {
  engine: string;
  module: string;
  arguments: string[];
  environment: Record<string, string>;
  gpus: number;
  cpus: number;
  gracePeriodMs: number;
  files: Record<string, string>;
  /** Variables that get their values on the cluster, from the secrets of these names; absent: none. */
  secrets?: Record<string, string>;
}

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
