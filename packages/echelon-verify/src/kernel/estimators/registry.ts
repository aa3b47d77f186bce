import type { Estimator } from './estimator.ts';
import { G2PO } from './g2po.ts';
import { GAE } from './gae.ts';
import { GDPO } from './gdpo.ts';
import { GIGPO } from './gigpo.ts';
import { GPG } from './gpg.ts';
import { GRAPHGPO } from './graphgpo.ts';
import { GRPO } from './grpo.ts';
import { GRPO_PASSK } from './grpo-passk.ts';
import { HGPO } from './hgpo.ts';
import { MAX_RL } from './max-rl.ts';
import { OPO } from './opo.ts';
import { OPTIMAL_TOKEN_BASELINE } from './optimal-token-baseline.ts';
import { type AnyParameters, allowedInWords, isAllowed } from './parameters.ts';
import { RAE } from './rae.ts';
import { REINFORCE_PLUS_PLUS } from './reinforce-plus-plus.ts';
import { REINFORCE_PLUS_PLUS_TOKEN } from './reinforce-plus-plus-token.ts';
import { REMAX } from './remax.ts';
import { RLOO } from './rloo.ts';

/** All estimators, by name: the only list of them, in the order in which people see them. */
export const ESTIMATORS = {
  hgpo: HGPO,
  gigpo: GIGPO,
  graphgpo: GRAPHGPO,
  g2po: G2PO,
  grpo: GRPO,
  rloo: RLOO,
  reinforce_plus_plus: REINFORCE_PLUS_PLUS,
  max_rl: MAX_RL,
  gdpo: GDPO,
  opo: OPO,
  gpg: GPG,
  grpo_passk: GRPO_PASSK,
  rae: RAE,
  gae: GAE,
  reinforce_plus_plus_token: REINFORCE_PLUS_PLUS_TOKEN,
  remax: REMAX,
  optimal_token_baseline: OPTIMAL_TOKEN_BASELINE,
};

/** The estimators' names. */
export type EstimatorName = keyof typeof ESTIMATORS;

/** The parameters of each estimator, by its name. */
export type EstimatorParameters = {
  readonly [N in EstimatorName]: (typeof ESTIMATORS)[N] extends Estimator<infer P> ? P : never;
};

/** The names of all estimators. */
export function estimatorNames(): EstimatorName[] {
  return Object.keys(ESTIMATORS) as EstimatorName[];
}

/** True if `name` is that of an estimator. */
export function isEstimatorName(name: string): name is EstimatorName {
  return Object.hasOwn(ESTIMATORS, name);
}

/** The estimator of a name. */
export function estimatorOf(name: EstimatorName): Estimator {
  return ESTIMATORS[name] as unknown as Estimator;
}

/** The `name=value` of a parameter that some estimator has. Throws a RangeError that says what it must be. */
export function parameterFromText(text: string): AnyParameters {
  const [, key = '', value = ''] = /^(\w+)=(.+)$/.exec(text) ?? [];
  const rules = estimatorNames().flatMap((name) => {
    const { parameters } = estimatorOf(name);
    return Object.hasOwn(parameters, key) ? [parameters[key]!] : [];
  });
  if (rules.length === 0) throw new RangeError('It must be name=value with the name of a parameter.');
  const found = [Number(value), value === 'true' || (value === 'false' ? false : value)].find((one) =>
    rules.some((rule) => isAllowed(rule, one)),
  );
  if (found === undefined) throw new RangeError(`${key} must be ${allowedInWords(rules[0]!)}.`);
  return { [key]: found };
}
