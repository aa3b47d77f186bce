import type { FieldProblem } from '../../core/errors.ts';
import type { HydraValue } from './hydra.ts';
import type { Recipe } from './recipes.ts';
import type { ResolvedVerlAgent, VerlAgentEstimatorName, VerlAgentSpec } from './spec.ts';

type Estimator = NonNullable<VerlAgentSpec['estimator']>;
type Field = Exclude<keyof Estimator, 'name'>;

/** What verl-agent calls the estimator, and which fields count for it. */
interface Method {
  advEstimator: string;
  fields: readonly Field[];
}

/** The estimators that can be run. All but graphgpo are the HGPO trainer's and run through it, so that a comparison differs in nothing else. */
const METHODS: Readonly<Record<VerlAgentEstimatorName, Method>> = {
  hgpo: {
    advEstimator: 'hgpo',
    fields: ['mode', 'weightType', 'lengthWeightAlpha', 'baseGroup', 'gamma', 'invalidActionPenalty'],
  },
  gigpo: { advEstimator: 'gigpo', fields: ['mode', 'stepAdvantageWeight', 'gamma', 'invalidActionPenalty'] },
  graphgpo: {
    advEstimator: 'graphgpo',
    fields: [
      'mode',
      'stepAdvantageWeight',
      'episodeAdvantageWeight',
      'normalizeDistance',
      'gamma',
      'invalidActionPenalty',
    ],
  },
  grpo: { advEstimator: 'grpo', fields: ['normalizeByStd', 'invalidActionPenalty'] },
  rloo: { advEstimator: 'rloo', fields: ['invalidActionPenalty'] },
  ppo: { advEstimator: 'gae', fields: ['tokenGamma', 'lambda', 'invalidActionPenalty'] },
  reinforce_plus_plus: {
    advEstimator: 'reinforce_plus_plus',
    fields: ['baseline', 'tokenGamma', 'invalidActionPenalty'],
  },
};

const EVERYWHERE = { weightType: 'length', tokenGamma: 1, lambda: 1, baseline: false } as const;

/** The key of the configuration that a field alone sets; undefined if it shares one. */
const KEYS: Partial<Record<VerlAgentEstimatorName, Partial<Record<Field, string>>>> = {
  hgpo: {
    mode: 'algorithm.hgpo.mode',
    weightType: 'algorithm.hgpo.weight_type',
    lengthWeightAlpha: 'algorithm.hgpo.length_weight_alpha',
    baseGroup: 'algorithm.hgpo.base_group',
    gamma: 'algorithm.gamma',
  },
  gigpo: {
    mode: 'algorithm.gigpo.mode',
    stepAdvantageWeight: 'algorithm.gigpo.step_advantage_w',
    gamma: 'algorithm.gamma',
  },
  graphgpo: {
    mode: 'algorithm.graphgpo.mode',
    stepAdvantageWeight: 'algorithm.graphgpo.step_advantage_w',
    episodeAdvantageWeight: 'algorithm.graphgpo.episode_advantage_w',
    normalizeDistance: 'algorithm.graphgpo.normalize_distance',
    gamma: 'algorithm.gamma',
  },
  grpo: { normalizeByStd: 'algorithm.norm_adv_by_std_in_grpo' },
  ppo: { tokenGamma: 'algorithm.gamma', lambda: 'algorithm.lam' },
  reinforce_plus_plus: { tokenGamma: 'algorithm.gamma' },
};

/** Every key that some field of an estimator sets, and that field. */
export const ESTIMATOR_KEYS: ReadonlyMap<string, string> = new Map([
  ['algorithm.adv_estimator', '/estimator/name'],
  ['actor_rollout_ref.actor.use_invalid_action_penalty', '/estimator/invalidActionPenalty'],
  ['actor_rollout_ref.actor.invalid_action_penalty_coef', '/estimator/invalidActionPenalty'],
  ...Object.values(KEYS).flatMap((keys) =>
    Object.entries(keys).map(([field, key]): [string, string] => [key, `/estimator/${field}`]),
  ),
]);

/**
 * The estimator that a configuration asks for, every field written out; undefined if `algorithm.adv_estimator` is none that can
 * be run. `read` gives a key's value.
 */
export function readEstimator(
  read: (key: string) => HydraValue | null,
): ResolvedVerlAgent['estimator'] | undefined {
  const given = String(read('algorithm.adv_estimator'));
  const baseline = given.endsWith('_baseline');
  const advEstimator = baseline ? given.slice(0, -'_baseline'.length) : given;
  const found = Object.entries(METHODS).find(([, method]) => method.advEstimator === advEstimator);
  if (found === undefined) return undefined;
  const [name, { fields }] = found as [VerlAgentEstimatorName, Method];
  const own = fields.flatMap((field): [string, HydraValue][] => {
    const key = KEYS[name]?.[field];
    const value = key === undefined ? null : read(key);
    return value === null ? [] : [[field, value]];
  });
  const isPunished = read('actor_rollout_ref.actor.use_invalid_action_penalty') === true;
  const penalty = isPunished ? read('actor_rollout_ref.actor.invalid_action_penalty_coef') : 0;
  return {
    name,
    ...Object.fromEntries(own),
    ...(baseline && { baseline }),
    invalidActionPenalty: Number(penalty),
  };
}

/** Fields that were set though the estimator does not use them. */
export function estimatorProblems(
  estimator: Estimator | undefined,
  method: Recipe['method'] = 'hgpo',
): FieldProblem[] {
  const name = estimator?.name ?? method;
  const { fields } = METHODS[name];
  if ((name === 'graphgpo') !== (method === 'graphgpo'))
    return [{ field: '/estimator/name', message: otherTrainer(name) }];
  return Object.keys(estimator ?? {})
    .filter((key) => key !== 'name' && !fields.includes(key as Field))
    .map((key) => ({ field: `/estimator/${key}`, message: unused(name, key as Field, fields) }));
}

/** The trainers of the two recipes differ in prompts and keys of states. */
function otherTrainer(name: VerlAgentEstimatorName): string {
  return name === 'graphgpo'
    ? 'needs the next observations, which only the trainer of GraphGPO records: take a recipe that starts with graphgpo_'
    : `is not run by the trainer of GraphGPO: it has other prompts and states, and reads algorithm.graphgpo for gigpo; take a recipe without graphgpo_ for ${name}`;
}

function unused(name: string, field: Field, fields: readonly Field[]): string {
  if (field === 'gamma' && fields.includes('tokenGamma')) {
    return `is the discount of a step; ${name} discounts tokens, where 0.95 leaves nothing after 100 of them: set tokenGamma`;
  }
  return `has no effect on ${name}, which uses ${fields.join(', ')}; remove it`;
}

/**
 * The estimator with every field it uses and no other. `recipe` gives the mode, gamma and penalty of the recipe, so
 * that estimators of one environment are compared on equal terms.
 */
export function completeVerlAgentEstimator(
  estimator: Estimator | undefined,
  recipe: { mode: 'mean_std_norm' | 'mean_norm'; gamma: number; invalidActionPenalty: number },
  method: Recipe['method'] = 'hgpo',
): ResolvedVerlAgent['estimator'] {
  const name = estimator?.name ?? method;
  const defaults: Required<Omit<Estimator, 'name'>> = {
    ...EVERYWHERE,
    ...recipe,
    lengthWeightAlpha: 1,
    baseGroup: false,
    stepAdvantageWeight: 1,
    episodeAdvantageWeight: 1,
    normalizeDistance: false,
    normalizeByStd: true,
  };
  const values = METHODS[name].fields.map((field) => [field, estimator?.[field] ?? defaults[field]]);
  return { name, ...Object.fromEntries(values) };
}

/** The overrides that an estimator sets, in the order of its fields. */
export function estimatorOverrides(
  estimator: ResolvedVerlAgent['estimator'],
): [key: string, value: HydraValue][] {
  const { name, baseline, invalidActionPenalty = 0 } = estimator;
  const { advEstimator, fields } = METHODS[name];
  const own = fields.flatMap((field): [string, HydraValue][] => {
    const key = KEYS[name]?.[field];
    return key === undefined ? [] : [[key, estimator[field]!]];
  });
  return [
    ['algorithm.adv_estimator', baseline ? `${advEstimator}_baseline` : advEstimator],
    ...own,
    ['actor_rollout_ref.actor.use_invalid_action_penalty', invalidActionPenalty > 0],
    ['actor_rollout_ref.actor.invalid_action_penalty_coef', invalidActionPenalty],
  ];
}
