import type { CheckFinding, CheckInput } from '../engine.ts';
import { gigabytes } from '../model-size.ts';
import { cpusNeeded, gpusOf } from './cpus.ts';
import { diskNeeded } from './disk.ts';
import { recipeOf } from './recipes.ts';
import { historyLengthOf } from './resolve.ts';
import type { ResolvedVerlAgent } from './spec.ts';

type Input = CheckInput<ResolvedVerlAgent>;
type Check = (input: Input) => (CheckFinding | false)[];

/** Everything there is to say about an experiment before a cluster is asked, errors first. Pure. */
export function checkExperiment(input: Input): CheckFinding[] {
  const order = { error: 0, warning: 1, note: 2 };
  return CHECKS.flatMap((check) => check(input))
    .filter((finding) => finding !== false)
    .sort((left, right) => order[left.severity] - order[right.severity]);
}

const isTraining = (spec: ResolvedVerlAgent): boolean => recipeOf(spec.recipe).phase === 'train';
const GROUPED = new Set(['hgpo', 'gigpo', 'graphgpo', 'grpo', 'rloo']);

const gpus: Check = ({ spec: { resources, rollout } }) => [
  resources.gpus < 1 && {
    check: 'gpus',
    severity: 'error',
    field: '/resources/gpus',
    message: 'verl-agent trains and evaluates on GPUs, and none is asked for.',
    remedy: 'Set resources.gpus to 1 or more; the local engine needs none.',
  },
  resources.gpus > 0 &&
    resources.gpus % rollout.tensorParallelSize !== 0 && {
      check: 'tensor-parallel',
      severity: 'error',
      field: '/rollout/tensorParallelSize',
      message: `The ${resources.gpus} GPUs of a node cannot be divided into copies of ${rollout.tensorParallelSize}: a copy never spans nodes.`,
      remedy: `Set rollout.tensorParallelSize to a divisor of ${resources.gpus}.`,
    },
];

const divisibility: Check = ({ spec }) => {
  const { rollout, training, critic } = spec;
  const count = gpusOf(spec.resources);
  if (count < 1) return [];
  const perGpu = Math.floor(training.miniBatchSize / count);
  const uneven = (micro: number): boolean => perGpu === 0 || perGpu % micro !== 0;
  const micro = (owner: string, field: string, size: number): CheckFinding => ({
    check: 'mini-batch',
    severity: 'error',
    field,
    message: `A mini-batch has ${perGpu} rows on each of ${count} GPUs, which ${size} rows at once (${owner}) do not divide.`,
    remedy: `Set ${field.slice(1).replaceAll('/', '.')} to a divisor of ${perGpu || count}, or training.miniBatchSize to a multiple of ${size * count}.`,
  });
  return [
    rollout.groups % count !== 0 && {
      check: 'groups',
      severity: 'error',
      field: '/rollout/groups',
      message: `The trainer refuses ${rollout.groups} groups on ${count} GPUs: they must divide.`,
      remedy: `Set rollout.groups to a multiple of ${count}.`,
    },
    uneven(training.microBatchSizePerGpu) &&
      micro('the policy', '/training/microBatchSizePerGpu', training.microBatchSizePerGpu),
    critic !== undefined &&
      uneven(critic.microBatchSizePerGpu) &&
      micro('the critic', '/critic/microBatchSizePerGpu', critic.microBatchSizePerGpu),
  ];
};

const cpus: Check = ({ spec }) => {
  const { actors, actorCpus, total } = cpusNeeded(spec);
  return [
    spec.resources.cpus < total && {
      check: 'cpus',
      severity: 'error',
      field: '/resources/cpus',
      message: `${actors} environment actors take ${actorCpus} CPUs, the trainer 1 and its GPUs ${gpusOf(spec.resources)}: ${total} in all, and with ${spec.resources.cpus} the start hangs without a word.`,
      remedy: `Set resources.cpus to ${total} or leave it out, or lower environment.cpusPerActor, rollout.groups or evaluation.games.`,
    },
  ];
};

const groups: Check = ({ spec }) => {
  const { rollout, estimator } = spec;
  if (!isTraining(spec) || rollout.groupSize > 1) return [];
  return [
    GROUPED.has(estimator.name) && {
      check: 'degenerate-groups',
      severity: 'warning',
      field: '/rollout/groupSize',
      message: ['hgpo', 'gigpo', 'graphgpo'].includes(estimator.name)
        ? 'With one trajectory per group a step is compared only with revisits of its state in the same trajectory.'
        : 'With one trajectory per group all its steps are compared with each other: only penalties tell them apart.',
      remedy: 'Set rollout.groupSize to 2 or more; the recipes have 8.',
    },
    rollout.dynamicSampling && {
      check: 'dynamic-sampling',
      severity: 'error',
      field: '/rollout/dynamicSampling',
      message: `Groups of one never differ in reward, so every step would generate ${rollout.maxGenerationBatches} rollouts and keep the last.`,
      remedy: 'Set rollout.groupSize to 2 or more, or leave dynamicSampling out.',
    },
  ];
};

const padding: Check = ({ spec }) => {
  if (!isTraining(spec)) return [];
  const { resources, rollout, training } = spec;
  const sizes = [
    training.microBatchSizePerGpu,
    rollout.logProbMicroBatchSizePerGpu,
    ...(training.klLoss ? [training.referenceMicroBatchSizePerGpu] : []),
  ];
  const multiple = sizes.reduce(leastCommonMultiple) * gpusOf(resources);
  const trajectories = rollout.groups * rollout.groupSize;
  return [
    multiple > 1 && {
      check: 'padding',
      severity: 'note',
      field: '/training/microBatchSizePerGpu',
      message: `Each step is filled up to a multiple of ${multiple} rows with random copies, at most ${multiple - 1} of them; they weigh double in the loss, not in the advantages.`,
      remedy: 'Smaller micro-batches mean fewer copies.',
    },
    trajectories * 2 < multiple && {
      check: 'padding-impossible',
      severity: 'warning',
      field: '/rollout/groups',
      message: `A step may have as few as ${trajectories} rows, too few to copy up to a multiple of ${multiple}: the trainer would fail.`,
      remedy: 'Raise rollout.groups or rollout.groupSize, or lower the micro-batches.',
    },
  ];
};

const ignored: Check = ({ spec, defaults }) => {
  const { environment, recipe, estimator } = spec;
  const alfworld = recipeOf(recipe).environment === 'alfworld';
  return [
    estimator.name === 'hgpo' &&
      isTraining(spec) &&
      !defaults.includes('/estimator/weightType') && {
        check: 'weight-type',
        severity: 'note',
        field: '/estimator/weightType',
        message: 'No code of the recipe reads weight_type: levels are always weighed by length.',
        remedy: 'For equal weights set estimator.lengthWeightAlpha to 0; epsilon is fixed at 1e-6 likewise.',
      },
    alfworld &&
      environment.maxSteps > 50 && {
        check: 'max-steps',
        severity: 'warning',
        field: '/environment/maxSteps',
        message: 'ALFWorld ends its episodes after 50 steps by itself.',
        remedy: 'Set environment.maxSteps to 50 or fewer.',
      },
    environment.historyLength >= environment.maxSteps && {
      check: 'history-length',
      severity: 'warning',
      field: '/environment/historyLength',
      message: `No episode of ${environment.maxSteps} steps has ${environment.historyLength} steps before another.`,
      remedy: 'Set environment.historyLength below environment.maxSteps.',
    },
    estimator.baseline === true &&
      !defaults.includes('/estimator/tokenGamma') && {
        check: 'token-gamma',
        severity: 'note',
        field: '/estimator/tokenGamma',
        message: 'reinforce_plus_plus with a baseline does not discount.',
        remedy: 'Leave estimator.tokenGamma out.',
      },
  ];
};

const failing: Check = ({ spec }) => {
  const { overrides, evaluation, rollout } = spec;
  return [
    overrides['algorithm.use_kl_in_reward'] === true && {
      check: 'kl-in-reward',
      severity: 'error',
      field: '/overrides/algorithm.use_kl_in_reward',
      message: 'The HGPO trainer subtracts this penalty before it has the probabilities for it, and fails.',
      remedy: 'Take the penalty in the loss: training.klLoss and training.klCoefficient.',
    },
    evaluation.sample &&
      rollout.temperature === 0 && {
        check: 'temperature',
        severity: 'error',
        field: '/rollout/temperature',
        message: 'The trainer refuses to sample in validation while the rollout temperature is 0.',
        remedy: 'Set rollout.temperature above 0, or evaluation.sample to false.',
      },
  ];
};

/** Tokens that vLLM takes at once unless an override says otherwise; fewer than a prompt with its response is refused. */
const MAX_BATCHED_TOKENS = 8192;

const generation: Check = ({ spec: { rollout, overrides } }) => {
  if (rollout.engine !== 'vllm') return [];
  const limit = Number(overrides['actor_rollout_ref.rollout.max_num_batched_tokens'] ?? MAX_BATCHED_TOKENS);
  const tokens = rollout.maxPromptTokens + rollout.maxResponseTokens;
  return [
    rollout.freeCacheEngine &&
      !rollout.enforceEager && {
        check: 'free-cache',
        severity: 'error',
        field: '/rollout/freeCacheEngine',
        message: 'vLLM cannot free its cache while it uses CUDA graphs: the trainer stops at its start.',
        remedy: 'Set rollout.enforceEager to true, or rollout.freeCacheEngine to false.',
      },
    tokens > limit && {
      check: 'batched-tokens',
      severity: 'error',
      field: '/rollout/maxPromptTokens',
      message: `A prompt and its response may have ${tokens} tokens, and vLLM takes ${limit} at once: it stops at its start${rollout.chunkedPrefill ? ', also with chunked prefill' : ''}.`,
      remedy: `Set the override actor_rollout_ref.rollout.max_num_batched_tokens to ${tokens} or more, or lower rollout.maxPromptTokens.`,
    },
  ];
};

const panels: Check = ({ spec: { evaluation, recipe } }) => [
  evaluation.replicates === undefined &&
    recipeOf(recipe).phase === 'eval' && {
      check: 'sampled-panel',
      severity: 'note',
      field: '/evaluation/replicates',
      message:
        'The games are drawn with replacement: some are played several times and others never, and another seed draws others. Such an evaluation cannot enter a comparison.',
      remedy: 'Set evaluation.replicates to play each game of the split that often.',
    },
];

const evaluations: Check = ({ spec }) => {
  if (isTraining(spec)) return [];
  const said = historyLengthOf(spec);
  return [
    said !== undefined &&
      said !== spec.environment.historyLength && {
        check: 'evaluation-history',
        severity: 'error',
        field: '/environment/historyLength',
        message: `The checkpoint was trained with ${said} previous steps in the prompt, and would be judged with ${spec.environment.historyLength}.`,
        remedy: `Set environment.historyLength to ${said}, or leave it out.`,
      },
    spec.evaluation.checkpoint !== undefined &&
      spec.cluster === null && {
        check: 'evaluation-cluster',
        severity: 'note',
        field: '/cluster',
        message:
          'Any cluster may run this evaluation, and only the cluster of the training is known to read its checkpoint.',
        remedy: 'Set cluster to the cluster that ran the training, if there are several.',
      },
    spec.evaluation.checkpoint !== undefined && {
      check: 'world-size',
      severity: 'note',
      field: '/resources/gpus',
      message: `A checkpoint is cut into as many pieces as its training had GPUs, and is read with ${gpusOf(spec.resources)} here.`,
      remedy: 'Evaluate with as many GPUs as the training had.',
    },
  ];
};

/** The space that the checkpoints take. */
function disk(spec: ResolvedVerlAgent): CheckFinding | false {
  const needed = diskNeeded(spec);
  if (needed === undefined || needed.saves === 0) return false;
  const { each, saves, exported, total } = needed;
  return {
    check: 'disk',
    severity: 'note',
    field: '/training/keepCheckpoints',
    message: `The shared file system needs about ${gigabytes(total)}: ${saves} checkpoints of ${gigabytes(each)} each, and ${gigabytes(exported)} for an export.`,
    remedy: 'The preflight compares this with the free space; a lower training.keepCheckpoints needs less.',
  };
}

const keeping: Check = ({ spec }) => {
  const { training, recipe } = spec;
  if (recipeOf(recipe).phase === 'eval') return [];
  return [
    training.saveEvery === 0 && {
      check: 'checkpoints',
      severity: 'warning',
      field: '/training/saveEvery',
      message:
        'Without checkpoints a lost attempt starts from the beginning, and nothing is left to evaluate.',
      remedy: 'Set training.saveEvery; the last step is saved as well.',
    },
    training.keepCheckpoints === 1 && {
      check: 'keep-checkpoints',
      severity: 'warning',
      field: '/training/keepCheckpoints',
      message:
        'The trainer deletes the old checkpoint before it writes the new one, so that a failure in between leaves none.',
      remedy: 'Set training.keepCheckpoints to 2 or more.',
    },
    disk(spec),
    training.logger.some((name) => name !== 'console' && name !== 'tensorboard') && {
      check: 'tracker',
      severity: 'note',
      field: '/training/logger',
      message: `The loggers ${training.logger.join(', ')} read their keys from variables on the cluster, never from a spec.`,
      remedy:
        'Name the secret under secrets, e.g. WANDB_API_KEY: NAME, or set the variable in the environment of the ray-worker.',
    },
    recipeOf(recipe).environment === 'webshop' &&
      spec.evaluation.replicates === undefined && {
        check: 'webshop-goals',
        severity: 'note',
        field: '/recipe',
        message:
          'Every WebShop actor shuffles the goals by a seed of its own, so training and validation share goals.',
        remedy:
          'Set evaluation.replicates, which also trains on goals beyond those of the panel, or read validation as a learning curve.',
      },
  ];
};

const graph: Check = ({ spec: { estimator, recipe } }) => {
  if (recipeOf(recipe).method !== 'graphgpo') return [];
  const isAlfworld = recipeOf(recipe).environment === 'alfworld';
  const { gamma = 0, invalidActionPenalty = 0 } = estimator;
  const prompt = isAlfworld
    ? 'the prompt and the states name the location, the held items and their condition'
    : 'pages come with their buttons (text_rich)';
  const [tokens, steps] = isAlfworld ? [2048, 50] : [5120, 15];
  return [
    {
      check: 'graphgpo-comparison',
      severity: 'note',
      field: '/recipe',
      message: `Not only the estimator differs from GiGPO in the HGPO recipes: ${prompt}; the script has ${tokens} prompt tokens, ${steps} environment steps and 150 training steps where theirs has 4096, ${isAlfworld ? 50 : 30} and 160.`,
      remedy:
        'For a comparison align rollout.maxPromptTokens, environment.maxSteps, training.steps and the batch sizes; the prompts cannot be aligned.',
    },
    invalidActionPenalty > 10 * gamma ** 3 && {
      check: 'graphgpo-penalty',
      severity: 'note',
      field: '/estimator/invalidActionPenalty',
      message: `The penalty ${invalidActionPenalty} is more than a whole return from distance 3 (10 · ${gamma}³): far from the goal, invalid steps rank below all others; in a group without success they alone differ.`,
      remedy: 'The scripts have 0.1; a larger estimator.gamma or a smaller penalty changes that.',
    },
  ];
};

const CHECKS: readonly Check[] = [
  gpus,
  divisibility,
  cpus,
  groups,
  padding,
  graph,
  ignored,
  failing,
  generation,
  panels,
  evaluations,
  keeping,
];

function leastCommonMultiple(left: number, right: number): number {
  let [a, b] = [left, right];
  while (b !== 0) [a, b] = [b, a % b];
  return (left / a) * right;
}
