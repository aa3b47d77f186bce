import type { FieldProblem } from '../../core/errors.ts';
import { merge, type Tree, valueAt } from '../../core/trees.ts';
import { referenceProblems } from '../checkpoint-reference.ts';
import { COMMON_DEFAULTS } from '../common-defaults.ts';
import { cpusNeeded } from './cpus.ts';
import { completeVerlAgentEstimator, estimatorProblems } from './estimators.ts';
import { fieldDefaults, OWNED_KEYS } from './fields.ts';
import { type HydraValue, readHydraText } from './hydra.ts';
import { mergedDefault } from './merged-config.ts';
import { overrideProblems } from './overrides.ts';
import { panelDefaults, panelProblems } from './panel.ts';
import { keepsOne, type Recipe, recipeOf, SCRIPT_ENVIRONMENT } from './recipes.ts';
import type { ResolvedVerlAgent, VerlAgentSpec } from './spec.ts';

/** The seeds that the recipe's evaluations use. */
export const EVALUATION_SEEDS = [123, 456, 789] as const;

/** What DAPO's own script of verl-agent allows; the HGPO configuration has 0, with which nothing is collected. */
const GENERATION_BATCHES = 10;

/** Fields that an evaluation does not read. */
const TRAINING_ONLY = [
  'estimator',
  'observations',
  'critic',
  'checkpoints',
  'rollout.dynamicSampling',
  'rollout.maxGenerationBatches',
  'training.steps',
  'training.learningRate',
  'training.saveEvery',
  'training.keepCheckpoints',
  'training.evaluateEvery',
  'training.evaluateBefore',
];

/**
 * What contradicts itself in a valid spec before its defaults are known: fields without effect, overrides
 * that are refused, an evaluation without a checkpoint.
 */
export function verlAgentContradictions(spec: VerlAgentSpec): FieldProblem[] {
  const allowCustomCode = spec.allowCustomCode ?? false;
  return [
    ...estimatorProblems(spec.estimator, recipeOf(spec.recipe).method),
    ...overrideProblems(spec.overrides ?? {}, { allowCustomCode, owned: OWNED_KEYS }),
    ...phaseProblems(spec),
    ...panelProblems(spec),
    ...uselessFields(spec),
  ];
}

function phaseProblems(spec: VerlAgentSpec): FieldProblem[] {
  const { phase } = recipeOf(spec.recipe);
  if (phase === 'train') {
    return (['checkpoint', 'baseModel'] as const)
      .filter((name) => spec.evaluation?.[name] !== undefined)
      .map((name) => ({
        field: `/evaluation/${name}`,
        message: `has no effect on a training; take ${evaluationOf(spec.recipe)}`,
      }));
  }
  const useless = TRAINING_ONLY.filter((path) => valueAt(spec, path) !== undefined).map((path) => ({
    field: `/${path.replace('.', '/')}`,
    message: 'has no effect on an evaluation; remove it',
  }));
  return [...useless, ...evaluatedProblems(spec)];
}

/** An evaluation has either a checkpoint or the base model. */
function evaluatedProblems({ evaluation }: VerlAgentSpec): FieldProblem[] {
  const hasCheckpoint = evaluation?.checkpoint !== undefined;
  if (evaluation?.baseModel) {
    const message =
      'contradicts evaluation.checkpoint: the base model is evaluated without a training; remove one of the two';
    return hasCheckpoint ? [{ field: '/evaluation/baseModel', message }] : [];
  }
  if (evaluation?.checkpoint !== undefined) {
    return referenceProblems(evaluation.checkpoint, '/evaluation/checkpoint');
  }
  const message =
    "is missing; it must name the training by its id in `experiment`, or its checkpoint directory, which `echelon plan` shows for the training's spec, in `directory`. To evaluate the base model, set evaluation.baseModel to true";
  return [{ field: '/evaluation/checkpoint', message }];
}

function uselessFields(spec: VerlAgentSpec): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (spec.critic !== undefined && spec.estimator?.name !== 'ppo') {
    problems.push({ field: '/critic', message: 'has no effect: only ppo trains a critic; remove it' });
  }
  if (spec.evaluation?.split !== undefined && recipeOf(spec.recipe).environment !== 'alfworld') {
    problems.push({
      field: '/evaluation/split',
      message: 'has no effect: only ALFWorld has two splits; remove it',
    });
  }
  if (spec.evaluation?.split === 'unseen' && recipeOf(spec.recipe).method === 'graphgpo') {
    problems.push({
      field: '/evaluation/split',
      message: 'has no effect: the trainer of GraphGPO validates on seen tasks only; remove it',
    });
  }
  if (spec.rollout?.maxGenerationBatches !== undefined && spec.rollout.dynamicSampling !== true) {
    problems.push({
      field: '/rollout/maxGenerationBatches',
      message: 'has no effect without dynamicSampling',
    });
  }
  return problems;
}

/** The defaults of a spec filled in; it must have no contradictions. Pure: the input is not changed. */
export function resolveVerlAgent(spec: VerlAgentSpec): ResolvedVerlAgent {
  const recipe = recipeOf(spec.recipe);
  const { estimator, critic, ...given } = spec;
  const filled = merge(defaultsOf(recipe, spec), given as Tree) as unknown as ResolvedVerlAgent;
  const read = reader(recipe);
  const complete: ResolvedVerlAgent = {
    ...filled,
    estimator: completeVerlAgentEstimator(
      estimator,
      {
        mode:
          recipe.environment === 'alfworld' || recipe.method === 'graphgpo' ? 'mean_std_norm' : 'mean_norm',
        gamma: read('algorithm.gamma') as number,
        invalidActionPenalty: read('actor_rollout_ref.actor.invalid_action_penalty_coef') as number,
      },
      recipe.method,
    ),
  };
  if (complete.estimator.name === 'ppo') complete.critic = { ...criticDefaults(complete), ...critic };
  complete.resources.cpus = spec.resources?.cpus ?? cpusNeeded(complete).total;
  complete.resources.nodeLabels = { ...spec.resources?.nodeLabels };
  return complete;
}

function defaultsOf(recipe: Recipe, spec: VerlAgentSpec): Tree {
  const evaluation = recipe.phase === 'eval';
  const fields = fieldDefaults(reader(recipe));
  const games = fields.evaluation!.games as number;
  return {
    ...COMMON_DEFAULTS,
    ...fields,
    home: null,
    observations: 'digests',
    allowCustomCode: false,
    overrides: {},
    checkpoints: { label: null },
    training: {
      ...fields.training,
      logger: ['console'],
      ...(keepsOne(recipe.overrides) ? { keepCheckpoints: 2 } : {}),
    },
    environment: {
      ...fields.environment,
      ...(evaluation ? { seed: EVALUATION_SEEDS[0], historyLength: historyLengthOf(spec) ?? 2 } : {}),
    },
    rollout: {
      ...fields.rollout,
      attentionBackend: SCRIPT_ENVIRONMENT.VLLM_ATTENTION_BACKEND,
      ...(spec.rollout?.dynamicSampling ? { maxGenerationBatches: GENERATION_BATCHES } : {}),
    },
    evaluation: {
      ...fields.evaluation,
      rounds: recipe.validationRows / games,
      // What the scripts really do: trainings validate in-domain, evaluations run out-of-domain.
      ...(recipe.environment === 'alfworld' ? { split: evaluation ? 'unseen' : 'seen' } : {}),
      ...panelDefaults(spec, { environment: recipe.environment, isEvaluation: evaluation, games }),
    },
  };
}

/** K as the name of the training's checkpoints says it, `k4_…`; undefined if the name does not state it. */
export function historyLengthOf(spec: Pick<VerlAgentSpec, 'evaluation'>): number | undefined {
  const digits = /\/k(\d{1,2})_/.exec(spec.evaluation?.checkpoint?.directory ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function criticDefaults({ model, training }: ResolvedVerlAgent): NonNullable<ResolvedVerlAgent['critic']> {
  return {
    path: model.path,
    learningRate: Number(mergedDefault('critic.optim.lr')),
    microBatchSizePerGpu: training.microBatchSizePerGpu,
    parameterOffload: training.parameterOffload,
    optimizerOffload: training.optimizerOffload,
  };
}

/** Reads what a recipe's script passes for a key, else what the configuration has. */
function reader(recipe: Recipe): (key: string) => HydraValue | null {
  const passed = new Map(recipe.overrides);
  return (key) => readHydraText(passed.get(key) ?? mergedDefault(key) ?? 'null');
}

function evaluationOf(recipe: VerlAgentSpec['recipe']): string {
  return recipe.replace(/^graphgpo_/, '').replace(/_train$/, '_eval');
}
