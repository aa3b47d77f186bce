import type { FieldProblem } from '../core/errors.ts';
import type { ExperimentSpec, ResolvedLocal, ResolvedReplay, ResolvedSpec } from '../schemas/spec.ts';
import { invalidSpec } from '../schemas/validate-spec.ts';
import { deadlineProblems, resolveDeadline } from './deadline.ts';
import { COMMON_DEFAULTS, LOCAL_DEFAULTS, REPLAY_DEFAULTS } from './defaults.ts';
import { completeEstimator, unusedFields } from './estimator-fields.ts';
import { resolveRules, ruleProblems } from './rules.ts';
import { merge, missingFrom, type Tree } from './trees.ts';
import { type CheckInput, checkExperiment } from './verl-agent/checks.ts';
import { codePathProblems } from './verl-agent/code-paths.ts';
import { resolveVerlAgent, verlAgentContradictions } from './verl-agent/resolve.ts';

/** What this installation allows beyond the ordinary. */
export interface Permissions {
  /** Whether a spec may name code that is loaded on the cluster; refused where it is left out. */
  customCode?: boolean;
  /** Directories of the cluster from which code may be loaded without that; none where it is left out. */
  codePaths?: readonly string[];
}

/**
 * Fills in a valid spec's defaults and says which they are. Throws EchelonError `invalid-spec` where the values
 * contradict each other, e.g. a field that the chosen estimator does not use, where verl-agent would certainly fail,
 * or where custom code is named without permission. Pure: the input is not changed.
 */
export function resolveSpec(spec: ExperimentSpec, permissions: Permissions = {}): ResolvedSpec {
  refuse([
    ...contradictions(spec, permissions),
    ...ruleProblems(spec.rules),
    ...deadlineProblems(spec.deadline),
  ]);
  const resolved = {
    ...fillIn(spec),
    rules: resolveRules(spec.rules),
    deadline: resolveDeadline(spec.deadline),
  };
  const defaults = missingFrom(spec, resolved as unknown as Tree);
  if (resolved.engine === 'verl-agent') refuse(certainFailures({ spec: resolved, defaults }));
  return { spec: resolved, defaults };
}

function refuse(problems: FieldProblem[]): void {
  if (problems.length > 0) throw invalidSpec(problems);
}

function fillIn(spec: ExperimentSpec): ResolvedSpec['spec'] {
  switch (spec.engine) {
    case 'local':
      return resolveLocal(spec);
    case 'replay':
      return resolveReplay(spec);
    case 'verl-agent':
      return resolveVerlAgent(spec);
  }
}

function certainFailures(input: CheckInput): FieldProblem[] {
  return checkExperiment(input)
    .filter(({ severity }) => severity === 'error')
    .map(({ field, message, mend }) => ({ field, message: `${message} ${mend}` }));
}

function resolveLocal(spec: Extract<ExperimentSpec, { engine: 'local' }>): ResolvedLocal {
  const filled = merge({ ...COMMON_DEFAULTS, ...LOCAL_DEFAULTS }, spec) as unknown as ResolvedLocal;
  return { ...filled, estimator: completeEstimator(spec.estimator, filled.environment) };
}

function resolveReplay(spec: Extract<ExperimentSpec, { engine: 'replay' }>): ResolvedReplay {
  return merge({ ...COMMON_DEFAULTS, ...REPLAY_DEFAULTS }, spec) as unknown as ResolvedReplay;
}

function contradictions(
  spec: ExperimentSpec,
  { customCode = false, codePaths = [] }: Permissions,
): FieldProblem[] {
  const gpus = spec.resources?.gpus ?? 0;
  switch (spec.engine) {
    case 'local':
      return [
        ...unusedFields(spec.estimator),
        ...noGpu(gpus, 'must be 0: the local engine trains on the CPU'),
      ];
    case 'replay':
      return noGpu(gpus, 'must be 0: a replay uses no GPU');
    case 'verl-agent':
      return [
        ...verlAgentContradictions(spec),
        ...(customCode ? [] : codePathProblems(spec, codePaths)),
        ...(spec.allowCustomCode && !customCode
          ? [
              {
                field: '/allowCustomCode',
                message: 'needs a key with the scope custom-code',
              },
            ]
          : []),
      ];
  }
}

function noGpu(gpus: number, message: string): FieldProblem[] {
  return gpus > 0 ? [{ field: '/resources/gpus', message }] : [];
}
