import { type LaunchPlan, STORE_FILE } from '../core/launch-plan.ts';
import { engineOf, type ResolvedSpec } from '../engines/registry.ts';

/** Arguments of every driver: the directories of its attempt. */
const DIRECTORIES = [
  'attempt_dir={attemptDir}',
  'experiment_dir={experimentDir}',
  'shared_root={sharedRoot}',
] as const;

/** The file in the attempt's directory from which a driver reads its settings (`echelon_rayworker/engines/spec.py`). */
const SPEC_FILE = 'spec.json';

/**
 * Compiles a resolved spec into its launch plan. `clusterEnv`: the variables of the cluster on which it runs; those of the
 * spec replace them. Pure; the same input gives the same plan. Throws EchelonError
 * `invalid-spec` if this version does not have the engine of a recorded spec.
 */
export function compilePlan(
  spec: ResolvedSpec['spec'],
  clusterEnv: Readonly<Record<string, string>> = {},
): LaunchPlan {
  const { arguments: passedOn, plan = {}, checkpointDirectory } = engineOf(spec.engine).compile?.(spec) ?? {};
  // A name is free text of a person, of which no driver needs any.
  const { name: _name, ...settings } = spec;
  return {
    engine: spec.engine,
    module: `echelon_rayworker.engines.${spec.engine.replaceAll('-', '_')}`,
    arguments: [...DIRECTORIES, ...(passedOn === undefined ? [] : ['--', ...passedOn])],
    environment: withoutSecrets({ ...clusterEnv, ...spec.env }, spec.secrets),
    gpus: spec.resources.gpus * (spec.resources.nodes ?? 1),
    cpus: spec.resources.cpus,
    gracePeriodMs: Math.round(spec.gracePeriodSeconds * 1000),
    files: { [SPEC_FILE]: JSON.stringify({ spec: settings, plan }), ...storeFile(spec, checkpointDirectory) },
    ...(Object.keys(spec.secrets ?? {}).length > 0 ? { secrets: spec.secrets } : {}),
  };
}

/**
 * The checkpoint store of a spec. `directory`: where the engine's checkpoints are besides the experiment's directory; nothing
 * else is uploaded, replaced or deleted. `ownVariables`: the spec's, which do not reach the process that speaks to the store.
 */
function storeFile(
  { checkpointStore, env, secrets }: Pick<ResolvedSpec['spec'], 'checkpointStore' | 'env' | 'secrets'>,
  directory: string | undefined,
): Record<string, string> {
  if (!checkpointStore) return {};
  const ownVariables = Object.keys({ ...env, ...secrets });
  return { [STORE_FILE]: JSON.stringify({ ...checkpointStore, directory: directory ?? null, ownVariables }) };
}

/** A secret of the spec replaces a plain variable of its cluster. */
function withoutSecrets(
  variables: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !Object.hasOwn(secrets, name)));
}
