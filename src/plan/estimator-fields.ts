import type { FieldProblem } from '../core/errors.ts';
import type { EstimatorSpec } from '../schemas/spec.ts';

type Field = Exclude<keyof EstimatorSpec, 'name'>;

/** The estimator's values where a spec has none: those of verl-agent. */
const DEFAULTS = {
  historyLength: 2,
  mode: 'mean_std_norm',
  lengthWeightAlpha: 1,
  baseGroup: false,
  stepAdvantageWeight: 1,
  normalizeByStd: true,
  gamma: 0.95,
  invalidActionPenalty: 0.1,
} as const satisfies Required<Omit<EstimatorSpec, 'name'>>;

/** The default of a field, which may depend on the estimator: verl-agent's GiGPO does not divide by the deviation. */
export function defaultOf(name: EstimatorSpec['name'], field: Field): NonNullable<EstimatorSpec[Field]> {
  return name === 'gigpo' && field === 'mode' ? 'mean_norm' : DEFAULTS[field];
}

/** The fields that each estimator's numbers depend on, in the order of documentation. */
export const ESTIMATOR_FIELDS: Readonly<Record<EstimatorSpec['name'], readonly Field[]>> = {
  hgpo: ['historyLength', 'mode', 'lengthWeightAlpha', 'baseGroup', 'gamma', 'invalidActionPenalty'],
  gigpo: ['mode', 'stepAdvantageWeight', 'gamma', 'invalidActionPenalty'],
  grpo: ['normalizeByStd', 'invalidActionPenalty'],
};

/** Fields that were set though the estimator does not use them: a person who sets one expects an effect. */
export function unusedFields(estimator: EstimatorSpec): FieldProblem[] {
  const used = ESTIMATOR_FIELDS[estimator.name];
  return Object.keys(estimator)
    .filter((key) => key !== 'name' && !used.includes(key as Field))
    .map((key) => ({
      field: `/estimator/${key}`,
      message: `has no effect on ${estimator.name}, which uses ${used.join(', ')}; remove it`,
    }));
}

/**
 * The estimator with every field it uses, and no other. `historyLength` follows that of the environment, which one key
 * drives in the recipe.
 */
export function completeEstimator(
  estimator: EstimatorSpec,
  environment: { historyLength: number },
): EstimatorSpec {
  const { name } = estimator;
  const given = { ...(name === 'hgpo' ? environment : {}), ...estimator };
  const values = ESTIMATOR_FIELDS[name].map((field) => [field, given[field] ?? defaultOf(name, field)]);
  return { name, ...Object.fromEntries(values) };
}
