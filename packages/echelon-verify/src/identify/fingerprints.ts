/** The estimators of known trainers: which arithmetic each of their settings names, and the line that says so. */

import { fingerprint } from '../kernel/estimators/fingerprint.ts';
import type { AnyParameters } from '../kernel/estimators/parameters.ts';
import type { EstimatorName } from '../kernel/estimators/registry.ts';

/** One setting of one trainer. */
export interface KnownForm {
  /** Trainer and form, e.g. `trl/grpo`. */
  readonly id: string;
  readonly trainer: string;
  /** The trainer's own name for it, with the settings that select it. */
  readonly setting: string;
  readonly estimator: EstimatorName;
  /** Parameters other than the estimator's defaults. */
  readonly params: AnyParameters;
  /** File and line at the commit of {@link COMMITS}. */
  readonly source: string;
}

/** Repository and commit of each trainer's sources. */
export const COMMITS: Readonly<Record<string, readonly [repository: string, commit: string]>> = {
  trl: ['huggingface/trl', 'f2cd5771'],
  'ms-swift': ['modelscope/ms-swift', '3602360a'],
  'nemo-rl': ['NVIDIA-NeMo/RL', '7ea279ab'],
  slime: ['THUDM/slime', '624b824a'],
  verl: ['verl-project/verl', '1dda039b'],
  'prime-rl': ['PrimeIntellect-ai/prime-rl', '559b4477'],
  openrlhf: ['OpenRLHF/OpenRLHF', '3c3be623'],
  skyrl: ['NovaSky-AI/SkyRL', 'a9564572'],
  roll: ['alibaba/ROLL', '8eb27cc2'],
  areal: ['inclusionAI/AReaL', '4aef98d8'],
  rllm: ['rllm-org/rllm', '9beb6e0f'],
  torchforge: ['meta-pytorch/torchforge', '6e77f0b3'],
  art: ['OpenPipe/ART', '0.5.23'],
  'verl-agent': ['langfengQ/verl-agent', '20bd331'],
  tinker: ['thinking-machines-lab/tinker-cookbook', '9dfcc3a2'],
};

const form = (
  id: string,
  setting: string,
  estimator: EstimatorName,
  params: AnyParameters,
  source: string,
): KnownForm => ({ id, trainer: id.slice(0, id.indexOf('/')), setting, estimator, params, source });

const zero = { singleton: 'zero' } as const;
const centred = { normalizeByStd: false, ...zero } as const;
/** OpenRLHF's whitening. */
const populationFloor = { deviation: 'population', epsilonPlace: 'variance-floor' } as const;
const perRow = { weight: 'row', recentre: false, baseline: 'group', epsilonPlace: 'added', ...zero } as const;

/** All known forms, the trainers with most users first. */
export const KNOWN_FORMS: readonly KnownForm[] = [
  form(
    'trl/grpo',
    'GRPO, scale_rewards="group"',
    'grpo',
    { ...zero, epsilon: 1e-4, missing: 'exclude' },
    'trl/trainer/grpo_trainer.py:2685',
  ),
  form(
    'trl/grpo-batch',
    'GRPO, scale_rewards="batch"',
    'grpo',
    { ...zero, epsilon: 1e-4, missing: 'exclude', deviationOver: 'batch' },
    'trl/trainer/grpo_trainer.py:2697',
  ),
  form(
    'trl/dr-grpo',
    'GRPO, scale_rewards="none"',
    'grpo',
    { ...centred, missing: 'exclude' },
    'trl/trainer/grpo_trainer.py:2707',
  ),
  form(
    'trl/gdpo',
    'GRPO, multi_objective_aggregation="normalize_then_sum"',
    'gdpo',
    { missing: 'exclude' },
    'trl/trainer/grpo_trainer.py:2710',
  ),
  form(
    'trl/grpo-1.5',
    'GRPO, scale_rewards="group", TRL up to 1.5',
    'grpo',
    { ...zero, epsilon: 1e-4, missing: 'zero' },
    'trl/trainer/grpo_trainer.py:2685',
  ),
  form(
    'trl/grpo-batch-1.5',
    'GRPO, scale_rewards="batch", TRL up to 1.5',
    'grpo',
    { ...zero, epsilon: 1e-4, missing: 'zero', deviationOver: 'batch' },
    'trl/trainer/grpo_trainer.py:2697',
  ),
  form(
    'trl/dr-grpo-1.5',
    'GRPO, scale_rewards="none", TRL up to 1.5',
    'grpo',
    { ...centred, missing: 'zero' },
    'trl/trainer/grpo_trainer.py:2707',
  ),
  form(
    'trl/gdpo-1.5',
    'GRPO, multi_objective_aggregation="normalize_then_sum", TRL up to 1.5',
    'gdpo',
    { missing: 'zero' },
    'trl/trainer/grpo_trainer.py:2710',
  ),
  form('trl/rloo', 'RLOO', 'rloo', { ...zero, missing: 'exclude' }, 'trl/trainer/rloo_trainer.py:1547'),
  form(
    'trl/rloo-whitened',
    'RLOO, normalize_advantages=True',
    'rloo',
    { ...zero, missing: 'exclude', normalize: 'whiten', epsilon: 1e-4 },
    'trl/trainer/rloo_trainer.py:1555',
  ),
  form(
    'trl/ppo',
    'PPO (experimental), lam=0.95',
    'gae',
    { lambda: 0.95, maskedTokens: 'include' },
    'trl/experimental/ppo/ppo_trainer.py:787',
  ),
  form(
    'ms-swift/grpo',
    'grpo, scale_rewards="group"',
    'grpo',
    { ...zero, epsilon: 1e-4, missing: 'zero' },
    'swift/rl_core/advantage.py:83',
  ),
  form(
    'ms-swift/grpo-batch',
    'grpo, scale_rewards="batch"',
    'grpo',
    { ...zero, epsilon: 1e-4, missing: 'zero', deviationOver: 'batch' },
    'swift/rl_core/advantage.py:81',
  ),
  form(
    'ms-swift/dr-grpo',
    'grpo, scale_rewards="none"',
    'grpo',
    { ...centred, missing: 'zero' },
    'swift/rl_core/advantage.py:71',
  ),
  form(
    'ms-swift/rloo',
    'rloo, scale_rewards="none"',
    'rloo',
    { ...zero, missing: 'zero' },
    'swift/rl_core/advantage.py:69',
  ),
  form(
    'ms-swift/rloo-group',
    'rloo, scale_rewards="group"',
    'rloo',
    { ...zero, missing: 'zero', normalize: 'group', epsilon: 1e-4 },
    'swift/rl_core/advantage.py:83',
  ),
  form(
    'ms-swift/rloo-batch',
    'rloo, scale_rewards="batch"',
    'rloo',
    { ...zero, missing: 'zero', normalize: 'batch', epsilon: 1e-4 },
    'swift/rl_core/advantage.py:81',
  ),
  form(
    'ms-swift/reinforce-plus-plus',
    'reinforce_plus_plus, scale_rewards="batch"',
    'reinforce_plus_plus',
    { ...perRow, epsilon: 1e-4 },
    'swift/rl_core/advantage.py:75',
  ),
  form(
    'ms-swift/reinforce-plus-plus-group',
    'reinforce_plus_plus, scale_rewards="group"',
    'grpo',
    { ...zero, epsilon: 1e-4, missing: 'zero' },
    'swift/rl_core/advantage.py:77',
  ),
  form(
    'ms-swift/gdpo',
    'grpo, scale_rewards="gdpo"',
    'gdpo',
    { epsilon: 1e-8, batchEpsilon: 1e-8, missing: 'zero' },
    'swift/rl_core/advantage.py:84',
  ),
  form('verl/grpo', 'grpo, grpo_vectorized', 'grpo', {}, 'verl/trainer/ppo/core_algos.py:316'),
  form(
    'verl/dr-grpo',
    'grpo, norm_adv_by_std_in_grpo=False',
    'grpo',
    { normalizeByStd: false },
    'verl/trainer/ppo/core_algos.py:328',
  ),
  form('verl/rloo', 'rloo', 'rloo', {}, 'verl/trainer/ppo/core_algos.py:588'),
  form('verl/rloo-vectorized', 'rloo_vectorized', 'rloo', zero, 'verl/trainer/ppo/core_algos.py:862'),
  form(
    'verl/reinforce-plus-plus',
    'reinforce_plus_plus, gamma=1',
    'reinforce_plus_plus',
    {},
    'verl/trainer/ppo/core_algos.py:694',
  ),
  form(
    'verl/reinforce-plus-plus-baseline',
    'reinforce_plus_plus_baseline',
    'reinforce_plus_plus',
    { baseline: 'group' },
    'verl/trainer/ppo/core_algos.py:536',
  ),
  form(
    'verl/gdpo',
    'gdpo',
    'gdpo',
    {
      epsilon: 1e-6,
      batchEpsilon: 1e-8,
      batchEpsilonPlace: 'variance-added',
      weight: 'token',
      singleton: 'raw',
    },
    'verl/trainer/ppo/core_algos.py:362',
  ),
  form('verl/gae', 'gae, gamma=1, lam=1', 'gae', {}, 'verl/trainer/ppo/core_algos.py:216'),
  form(
    'verl/gae-0.95',
    'gae, gamma=1, lam=0.95',
    'gae',
    { lambda: 0.95 },
    'verl/trainer/ppo/core_algos.py:216',
  ),
  form(
    'verl/reinforce-plus-plus-token',
    'reinforce_plus_plus, gamma=1, with KL in the reward',
    'reinforce_plus_plus_token',
    {},
    'verl/trainer/ppo/core_algos.py:694',
  ),
  form(
    'verl/reinforce-plus-plus-0.99',
    'reinforce_plus_plus, gamma=0.99',
    'reinforce_plus_plus_token',
    { discount: 0.99 },
    'verl/trainer/ppo/core_algos.py:694',
  ),
  form('verl/opo', 'opo', 'opo', {}, 'verl/trainer/ppo/core_algos.py:640'),
  form('verl/gpg', 'gpg', 'gpg', {}, 'verl/trainer/ppo/core_algos.py:771'),
  form('verl/grpo-passk', 'grpo_passk', 'grpo_passk', {}, 'verl/trainer/ppo/core_algos.py:472'),
  form(
    'nemo-rl/grpo',
    'grpo',
    'grpo',
    { ...zero, baseline: 'leave-one-out', guard: 'keep' },
    'nemo_rl/algorithms/advantage_estimator.py:57',
  ),
  form(
    'nemo-rl/rloo',
    'grpo, normalize_rewards=False',
    'rloo',
    zero,
    'nemo_rl/algorithms/advantage_estimator.py:57',
  ),
  form(
    'nemo-rl/grpo-mean',
    'grpo, use_leave_one_out_baseline=False',
    'grpo',
    { ...zero, guard: 'keep' },
    'nemo_rl/algorithms/advantage_estimator.py:57',
  ),
  form(
    'nemo-rl/dr-grpo',
    'grpo, use_leave_one_out_baseline=False, normalize_rewards=False',
    'grpo',
    centred,
    'nemo_rl/algorithms/advantage_estimator.py:57',
  ),
  form(
    'nemo-rl/gdpo',
    'gdpo',
    'gdpo',
    { epsilon: 1e-6, batchEpsilon: 0, baseline: 'leave-one-out' },
    'nemo_rl/algorithms/advantage_estimator.py:101',
  ),
  form(
    'nemo-rl/reinforce-plus-plus',
    'reinforce_plus_plus',
    'reinforce_plus_plus',
    { baseline: 'group', deviation: 'population', epsilonPlace: 'variance-floor', singleton: 'zero' },
    'nemo_rl/algorithms/advantage_estimator.py:193',
  ),
  form(
    'nemo-rl/reinforce-plus-plus-raw',
    'reinforce_plus_plus, minus_baseline=False',
    'reinforce_plus_plus',
    { deviation: 'population', epsilonPlace: 'variance-floor' },
    'nemo_rl/algorithms/advantage_estimator.py:193',
  ),
  form(
    'nemo-rl/gae',
    'gae, gae_gamma=1, gae_lambda=0.95, normalize_advantages',
    'gae',
    { lambda: 0.95 },
    'nemo_rl/algorithms/advantage_estimator.py:302',
  ),
  form('slime/grpo', 'grpo, gspo, cispo', 'grpo', zero, 'slime/ray/rollout.py:608'),
  form('slime/dr-grpo', 'grpo, grpo_std_normalization=False', 'grpo', centred, 'slime/ray/rollout.py:624'),
  form(
    'slime/reinforce-plus-plus-baseline',
    'reinforce_plus_plus_baseline, normalize_advantages',
    'reinforce_plus_plus',
    { baseline: 'group', singleton: 'zero' },
    'slime/backends/megatron_utils/loss.py:796',
  ),
  form(
    'slime/ppo',
    'ppo, gamma=1, lambd=1',
    'gae',
    { maskedTokens: 'include', recentre: false, normalizeByStd: false },
    'slime/utils/ppo_utils.py:695',
  ),
  form(
    'slime/ppo-0.95',
    'ppo, gamma=1, lambd=0.95',
    'gae',
    { lambda: 0.95, maskedTokens: 'include', recentre: false, normalizeByStd: false },
    'slime/utils/ppo_utils.py:695',
  ),
  form(
    'slime/ppo-normalized',
    'ppo, gamma=1, lambd=1, normalize_advantages',
    'gae',
    { maskedTokens: 'include' },
    'slime/utils/ppo_utils.py:695',
  ),
  form(
    'slime/reinforce-plus-plus',
    'reinforce_plus_plus, gamma=1, normalize_advantages',
    'reinforce_plus_plus_token',
    { maskedTokens: 'zero' },
    'slime/utils/ppo_utils.py:371',
  ),
  form(
    'openrlhf/group-norm',
    'group_norm',
    'grpo',
    { ...zero, epsilon: 1e-9, clip: 10 },
    'openrlhf/trainer/ppo_utils/experience_maker.py:269',
  ),
  form(
    'openrlhf/dr-grpo',
    'dr_grpo',
    'grpo',
    { ...centred, clip: 10 },
    'openrlhf/trainer/ppo_utils/experience_maker.py:267',
  ),
  form('openrlhf/rloo', 'rloo', 'rloo', zero, 'openrlhf/trainer/ppo_utils/experience_maker.py:264'),
  form(
    'openrlhf/reinforce-baseline',
    'reinforce_baseline',
    'reinforce_plus_plus',
    { baseline: 'group', deviation: 'population', epsilonPlace: 'variance-floor', singleton: 'zero' },
    'openrlhf/trainer/ppo_utils/experience_maker.py:315',
  ),
  form(
    'openrlhf/gae',
    'gae, gamma=1, lambd=1',
    'gae',
    { ...populationFloor, maskedTokens: 'zero' },
    'openrlhf/trainer/ppo_utils/experience_maker.py:333',
  ),
  form(
    'openrlhf/reinforce',
    'reinforce, gamma=1',
    'reinforce_plus_plus_token',
    { ...populationFloor, maskedTokens: 'zero' },
    'openrlhf/trainer/ppo_utils/experience_maker.py:380',
  ),
  form('prime-rl/grpo', 'grpo', 'grpo', centred, 'src/prime_rl/orchestrator/algo/grpo.py:29'),
  form('prime-rl/max-rl', 'max_rl', 'max_rl', {}, 'src/prime_rl/orchestrator/algo/max_rl.py:26'),
  form('prime-rl/rae', 'rae, decay=0.95', 'rae', { decay: 0.95 }, 'src/prime_rl/orchestrator/algo/rae.py:42'),
  form('skyrl/grpo', 'grpo', 'grpo', {}, 'skyrl/backends/skyrl_train/utils/ppo_utils.py:1343'),
  form('skyrl/rloo', 'rloo', 'rloo', zero, 'skyrl/backends/skyrl_train/utils/ppo_utils.py:1260'),
  form(
    'skyrl/maxrl',
    'maxrl',
    'max_rl',
    { epsilon: 1e-6, guard: 'none', singleton: 'raw' },
    'skyrl/backends/skyrl_train/utils/ppo_utils.py:1396',
  ),
  form(
    'skyrl/gae',
    'gae, gamma=1, lambd=1',
    'gae',
    { maskedTokens: 'include' },
    'skyrl/backends/skyrl_train/utils/ppo_utils.py:1313',
  ),
  form(
    'skyrl/reinforce-plus-plus-token',
    'reinforce++, gamma=1',
    'reinforce_plus_plus_token',
    { maskedTokens: 'reset' },
    'skyrl/backends/skyrl_train/utils/ppo_utils.py:1225',
  ),
  form('roll/grpo', 'grpo (RLVR)', 'grpo', { singleton: 'nan' }, 'roll/utils/functionals.py:564'),
  form(
    'roll/agentic',
    'agentic, std level group',
    'grpo',
    { ...zero, guard: 'zero', guardAbove: 1e-6 },
    'roll/pipeline/agentic/utils.py:100',
  ),
  form(
    'roll/agentic-batch',
    'agentic, std level batch',
    'grpo',
    { ...zero, guard: 'zero', guardAbove: 1e-6, deviationOver: 'batch' },
    'roll/pipeline/agentic/utils.py:108',
  ),
  form(
    'areal/grpo',
    'reward_norm: mean and std of the group',
    'grpo',
    { ...zero, epsilon: 1e-5 },
    'areal/utils/data.py:1378',
  ),
  form(
    'areal/grpo-batch',
    'reward_norm: mean of the group, std of the batch (about the means of the groups)',
    'reinforce_plus_plus',
    { ...perRow, epsilon: 1e-5 },
    'areal/utils/data.py:1378',
  ),
  form('rllm/grpo', 'grpo', 'grpo', { deviation: 'population' }, 'rllm/trainer/algorithms/rl_algo.py:6'),
  form('rllm/rloo', 'rloo', 'rloo', {}, 'rllm/trainer/algorithms/rl_algo.py:21'),
  form(
    'rllm/reinforce-plus-plus-baseline',
    'reinforce_plus_plus_baseline',
    'reinforce_plus_plus',
    { ...perRow, epsilon: 1e-6, deviation: 'population' },
    'rllm/trainer/algorithms/advantage.py:91',
  ),
  form('torchforge/grpo', 'grpo', 'grpo', { epsilon: 1e-4, singleton: 'nan' }, 'apps/grpo/main.py:190'),
  form(
    'art/grpo',
    'grpo',
    'grpo',
    { ...zero, deviation: 'population', guard: 'zero' },
    'src/art/preprocessing/tokenize.py:755',
  ),
  form('tinker/grpo', 'group-relative', 'grpo', centred, 'tinker_cookbook/rl/data_processing.py:39'),
  form('verl-agent/gigpo', 'gigpo, mean_norm', 'gigpo', {}, 'gigpo/core_gigpo.py:138'),
  form(
    'verl-agent/gigpo-std',
    'gigpo, mean_std_norm',
    'gigpo',
    { mode: 'mean_std_norm' },
    'gigpo/core_gigpo.py:138',
  ),
  form(
    'verl-agent/hgpo',
    'hgpo, K=2, mean_norm',
    'hgpo',
    { historyLength: 2, mode: 'mean_norm' },
    'recipe/hgpo/core_hgpo.py:1',
  ),
  form(
    'verl-agent/hgpo-std',
    'hgpo, K=2, mean_std_norm',
    'hgpo',
    { historyLength: 2, mode: 'mean_std_norm' },
    'recipe/hgpo/core_hgpo.py:1',
  ),
];

/** The form of an id. Throws a RangeError for an unknown id. */
export function knownForm(id: string): KnownForm {
  const found = KNOWN_FORMS.find((one) => one.id === id);
  if (found === undefined) throw new RangeError(`no known form ${id}`);
  return found;
}

/** Repository, commit, file and line of a form. */
export function sourceOf({ trainer, source }: KnownForm): string {
  const [repository, commit] = COMMITS[trainer]!;
  return `${repository}@${commit}:${source}`;
}

/** The fingerprint of a known form: equal for forms of the same arithmetic. */
export function formFingerprint({ estimator, params }: KnownForm): string {
  return fingerprint(estimator, params as never);
}
