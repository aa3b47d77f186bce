import { missingFrom, type Tree } from '../core/trees.ts';
import { EXTERNAL_ENGINE } from '../engines/external-run.ts';
import { invalidSpec } from '../engines/validate-spec.ts';
import { DEFAULT_PROJECT } from '../schemas/project.ts';
import type { ResolvedRule } from '../schemas/rules.ts';
import type { RunSpec } from '../schemas/runs.ts';
import { resolveRules, ruleProblems } from './rules.ts';

/** A {@link RunSpec} with its defaults, as the record of the run holds it. */
export interface ResolvedRun {
  engine: typeof EXTERNAL_ENGINE;
  name: string;
  project: string;
  silenceSeconds: number;
  rules: ResolvedRule[];
}

/**
 * Fills in the defaults of a run and lists their JSON pointers. Throws EchelonError `invalid-spec` for contradictory rules,
 * and for rules that stop: Echelon does not control the training.
 */
export function resolveRun(run: RunSpec): { spec: ResolvedRun; defaults: string[] } {
  const problems = ruleProblems(run.rules);
  run.rules?.forEach((rule, at) => {
    if ((rule.do ?? 'mark') === 'mark') return;
    const field = `/rules/${at}/do`;
    problems.push({
      field,
      message: 'must be mark, because Echelon cannot stop a run that it did not start',
    });
  });
  if (problems.length > 0) throw invalidSpec(problems);
  const spec: ResolvedRun = {
    engine: EXTERNAL_ENGINE,
    project: DEFAULT_PROJECT,
    silenceSeconds: 900,
    ...run,
    rules: resolveRules(run.rules),
  };
  return { spec, defaults: missingFrom(run, spec as unknown as Tree) };
}
