import type { AnyParameters } from 'echelon-verify/kernel';
import { completeParameters, estimatorOf } from 'echelon-verify/kernel';
import type { FieldProblem } from '../../core/errors.ts';
import { EstimatorSpec } from './spec.ts';

type Field = Exclude<keyof EstimatorSpec, 'name'>;

type Name = EstimatorSpec['name'];

/** What no estimator has as a parameter: verl-agent's values for how the returns are made. */
const OF_RETURNS = { gamma: 0.95, invalidActionPenalty: 0.1 } as const;

/** The default of a field, which may depend on the estimator: verl-agent's GiGPO does not divide by the deviation. */
export function defaultOf(name: Name, field: Field): NonNullable<EstimatorSpec[Field]> {
  const own = estimatorOf(name).parameters[field]?.default ?? OF_RETURNS[field as keyof typeof OF_RETURNS];
  return own as NonNullable<EstimatorSpec[Field]>;
}

/** The fields that each estimator's numbers depend on, in the order of documentation. */
export const ESTIMATOR_FIELDS: Readonly<Record<Name, readonly Field[]>> = {
  hgpo: fieldsOf('hgpo'),
  gigpo: fieldsOf('gigpo'),
  grpo: fieldsOf('grpo'),
};

function fieldsOf(name: Name): Field[] {
  const { parameters, uses } = estimatorOf(name);
  const { stepReturn } = uses(completeParameters(parameters) as AnyParameters);
  return (Object.keys(EstimatorSpec.properties) as (Field | 'name')[]).filter((field): field is Field =>
    field === 'gamma' ? stepReturn : field === 'invalidActionPenalty' || field in parameters,
  );
}

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
