import type { FieldProblem } from '../../core/errors.ts';
import type { ResolvedSpec } from '../../engines/registry.ts';
import type { ComparisonFigures, ComparisonPlan } from '../../schemas/comparison.ts';
import { canonicalJson } from '../../schemas/json.ts';
import type { SweepRequest } from '../../schemas/sweep.ts';
import { differencesOf } from '../differences.ts';
import { toPointer } from '../pointer.ts';
import { ALPHA, detectableWith, seedsFor } from './paired-difference.ts';

/** Two-sided error of each look, by the number of looks: the limits of O'Brien and Fleming for 5 % in all. */
const ERRORS_OF_LOOKS: Readonly<Record<number, readonly number[]>> = {
  1: [ALPHA],
  2: [0.00516, 0.04804],
  3: [0.00052, 0.01413, 0.04507],
};

const ALWAYS_DIFFERENT = ['/name', '/estimator'];

/** Numbers of seeds at which the result may be read, the last one all seeds. */
export const looksOf = ({ looks, seeds }: ComparisonPlan): readonly number[] => looks ?? [seeds.length];

/** The error of each interval at a look (from 0): the methods share it, so that all of their intervals hold together. */
export function errorOf(plan: ComparisonPlan, look: number): number {
  return ERRORS_OF_LOOKS[looksOf(plan).length]![look]! / (plan.methods.length - 1);
}

/** What is wrong with a plan beyond its schema. */
export function planProblems(plan: ComparisonPlan): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const names = plan.methods.map(({ name }) => name);
  const fields = plan.methods.map(({ set }) => Object.keys(set).map(toPointer).sort());
  if (new Set(names).size < names.length)
    problems.push({ field: '/methods', message: 'must have different names' });
  if (!names.includes(plan.baseline))
    problems.push({ field: '/baseline', message: `must be one of the methods ${names.join(', ')}` });
  if (new Set(fields.map((some) => canonicalJson(some))).size > 1)
    problems.push({
      field: '/methods',
      message: 'must all set the same fields, so that each difference is stated',
    });
  for (const pointer of fields[0]!)
    if (!isAllowed(plan, pointer))
      problems.push({
        field: '/methods',
        message: `set ${pointer}, which is no field of the estimator; name it in declared if the methods are to differ in it`,
      });
  const looks = looksOf(plan);
  const isAscending = looks.every((seeds, at) => at === 0 || seeds > looks[at - 1]!);
  if (!isAscending || looks.at(-1) !== plan.seeds.length)
    problems.push({ field: '/looks', message: `must ascend to all ${plan.seeds.length} seeds` });
  return problems;
}

/** The runs of a plan as a sweep: each seed with all methods, one after another. */
export function sweepOfPlan(plan: ComparisonPlan): SweepRequest {
  const { name, methods, seeds, seedField = 'training.seed', project } = plan;
  const runs = seeds.flatMap((seed) => methods.map((method) => ({ seed, method })));
  return {
    name,
    method: 'list',
    spec: project === undefined ? plan.spec : { ...plan.spec, project },
    axes: {
      name: runs.map(({ seed, method }) => `${method.name}, seed ${seed}`),
      [seedField]: runs.map(({ seed }) => seed),
      ...Object.fromEntries(
        Object.keys(methods[0]!.set).map((field) => [
          field,
          runs.map(
            ({ method: { set } }) =>
              set[Object.keys(set).find((key) => toPointer(key) === toPointer(field))!],
          ),
        ]),
      ),
    },
  };
}

function isAllowed({ declared = [], seedField = 'training.seed' }: ComparisonPlan, pointer: string): boolean {
  const allowed = [...ALWAYS_DIFFERENT, seedField, ...declared].map(toPointer);
  return allowed.some((one) => pointer === one || pointer.startsWith(`${one}/`));
}

/** Fields of two resolved specs that differ although the plan does not declare it. */
export function undeclaredDifferences(plan: ComparisonPlan, a: unknown, b: unknown): string[] {
  return differencesOf(a, b)
    .map(({ pointer }) => pointer)
    .filter((pointer) => !isAllowed(plan, pointer));
}

/** What a plan says before its first run. `spec`: of one run. */
export function figuresOf(
  plan: ComparisonPlan,
  { resources }: Pick<ResolvedSpec['spec'], 'resources'>,
): Omit<ComparisonFigures, 'warnings'> {
  const error = errorOf(plan, looksOf(plan).length - 1);
  const runs = plan.seeds.length * plan.methods.length;
  const gpus = resources.gpus * (resources.nodes ?? 1);
  return {
    runs,
    level: 1 - error,
    seedsNeeded: seedsFor(plan.margin, plan.deviation, error),
    detectable: detectableWith(plan.seeds.length, plan.deviation, error),
    gpuHours: gpus === 0 ? 0 : plan.hoursPerRun === undefined ? null : gpus * runs * plan.hoursPerRun,
  };
}

/** What the figures of a plan mean for its question. */
export function planWarnings(
  plan: ComparisonPlan,
  { seedsNeeded }: Pick<ComparisonFigures, 'seedsNeeded'>,
): string[] {
  const seeds = plan.seeds.length;
  const warnings: string[] = [];
  if (seedsNeeded === null || seedsNeeded > seeds)
    warnings.push(
      `${seeds} seeds do not show a difference of ${plan.margin} points at a deviation of ${plan.deviation}: that needs ${seedsNeeded ?? 'more than 1,000'}.`,
    );
  if (seeds < 6)
    warnings.push(
      `The sign-flip test cannot reach 0.05 with ${seeds} seeds; its smallest value is ${2 / 2 ** seeds}.`,
    );
  return warnings;
}
