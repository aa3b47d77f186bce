import type { FieldProblem } from '../core/errors.ts';
import type { ExperimentSpec, ResolvedLocal, ResolvedReplay, ResolvedSpec } from '../schemas/spec.ts';
import { invalidSpec } from '../schemas/validate-spec.ts';
import { COMMON_DEFAULTS, LOCAL_DEFAULTS, REPLAY_DEFAULTS } from './defaults.ts';
import { completeEstimator, unusedFields } from './estimator-fields.ts';

type Tree = { readonly [key: string]: unknown };

/**
 * Fills in a valid spec's defaults and says which they are. Throws EchelonError `invalid-spec` where the values
 * contradict each other, e.g. a field that the chosen estimator does not use. Pure: the input is not changed.
 */
export function resolveSpec(spec: ExperimentSpec): ResolvedSpec {
  const problems = contradictions(spec);
  if (problems.length > 0) throw invalidSpec(problems);
  const resolved = spec.engine === 'local' ? resolveLocal(spec) : resolveReplay(spec);
  return { spec: resolved, defaults: missingFrom(spec, resolved, '') };
}

function resolveLocal(spec: Extract<ExperimentSpec, { engine: 'local' }>): ResolvedLocal {
  const filled = merge({ ...COMMON_DEFAULTS, ...LOCAL_DEFAULTS }, spec) as unknown as ResolvedLocal;
  return { ...filled, estimator: completeEstimator(spec.estimator, filled.environment) };
}

function resolveReplay(spec: Extract<ExperimentSpec, { engine: 'replay' }>): ResolvedReplay {
  return merge({ ...COMMON_DEFAULTS, ...REPLAY_DEFAULTS }, spec) as unknown as ResolvedReplay;
}

function contradictions(spec: ExperimentSpec): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (spec.engine === 'local') {
    problems.push(...unusedFields(spec.estimator));
    if ((spec.resources?.gpus ?? 0) > 0) {
      problems.push({ field: '/resources/gpus', message: 'must be 0: the local engine trains on the CPU' });
    }
  } else if ((spec.resources?.gpus ?? 0) > 0) {
    problems.push({ field: '/resources/gpus', message: 'must be 0: a replay uses no GPU' });
  }
  return problems;
}

/** `given` over `defaults`, at any depth; arrays do not occur in a spec. */
function merge(defaults: Tree, given: Tree): Tree {
  const merged: Record<string, unknown> = structuredClone(defaults);
  for (const [key, value] of Object.entries(given)) {
    const below = defaults[key];
    merged[key] = isTree(value) && isTree(below) ? merge(below, value) : value;
  }
  return merged;
}

/** JSON pointers of the leaves that `resolved` has and `given` does not. */
function missingFrom(given: unknown, resolved: Tree, at: string): string[] {
  const had = isTree(given) ? given : {};
  return Object.entries(resolved).flatMap(([key, value]) => {
    if (isTree(value)) return missingFrom(had[key], value, `${at}/${key}`);
    return Object.hasOwn(had, key) ? [] : [`${at}/${key}`];
  });
}

function isTree(value: unknown): value is Tree {
  return value !== null && typeof value === 'object';
}
