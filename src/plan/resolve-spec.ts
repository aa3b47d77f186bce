import type { FieldProblem } from '../core/errors.ts';
import { missingFrom, type Tree } from '../core/trees.ts';
import type { Permissions } from '../engines/engine.ts';
import {
  clusterProblems,
  type ExperimentSpec,
  engineOf,
  permissionProblems,
  type ResolvedSpec,
} from '../engines/registry.ts';
import { invalidSpec } from '../engines/validate-spec.ts';
import { variableProblems } from '../engines/variables.ts';
import { resolveRules, ruleProblems } from './rules.ts';

/**
 * Fills in a valid spec's defaults and lists them. Throws EchelonError `invalid-spec` if the values contradict each
 * other (e.g. a field that the chosen estimator does not use), if the engine would certainly fail, or if the spec needs
 * a permission that is not given. Pure: the input is not changed.
 */
export function resolveSpec(spec: ExperimentSpec, permissions: Permissions = {}): ResolvedSpec {
  const engine = engineOf(spec.engine);
  refuse([
    ...engine.problems(spec),
    ...permissionProblems(spec, permissions),
    ...clusterProblems(spec, permissions),
    ...ruleProblems(spec.rules),
    ...deadlineProblems(spec.deadline),
    ...variableProblems(spec.env, spec.secrets),
  ]);
  const resolved = {
    ...engine.resolve(spec),
    rules: resolveRules(spec.rules),
    deadline: resolveDeadline(spec.deadline),
  };
  const defaults = missingFrom(spec, resolved as unknown as Tree);
  const errors = (engine.check?.({ spec: resolved, defaults }) ?? []).filter(
    ({ severity }) => severity === 'error',
  );
  refuse(errors.map(({ field, message, remedy }) => ({ field, message: `${message} ${remedy}` })));
  return { spec: resolved, defaults };
}

function refuse(problems: FieldProblem[]): void {
  if (problems.length > 0) throw invalidSpec(problems);
}

/** A deadline in UTC with milliseconds; null if there is none. To be asked after {@link deadlineProblems}. */
function resolveDeadline(deadline: string | null | undefined): string | null {
  return deadline ? new Date(deadline.toUpperCase()).toISOString() : null;
}

/** What is wrong with a well-formed instant: a day that its month does not have. */
function deadlineProblems(deadline: string | null | undefined): FieldProblem[] {
  if (deadline === undefined || deadline === null) return [];
  const [year, month, day] = deadline.slice(0, 10).split('-').map(Number) as [number, number, number];
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (day <= last && !Number.isNaN(Date.parse(deadline.toUpperCase()))) return [];
  return [{ field: '/deadline', message: `is no day of the calendar: that month has ${last} days` }];
}
