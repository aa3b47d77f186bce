import { projectDirectory } from '../directories.ts';
import type { Change, CompiledSpec, Correction } from '../engine.ts';
import { diskNeeded } from './disk.ts';
import { createDraft, type Draft } from './draft.ts';
import { estimatorOverrides } from './estimators.ts';
import { fieldOverrides } from './fields.ts';
import { countedVariables, numbersHash } from './identity.ts';
import { keepsOne, type Recipe, recipeOf, SCRIPT_ENVIRONMENT } from './recipes.ts';
import type { ResolvedVerlAgent } from './spec.ts';

/** The trainer's entry; it is the only one that knows hgpo, and every estimator runs through it. */
export const PROGRAM = 'recipe.hgpo.main_hgpo';

/** The capture hook's file in a copy of the ray-worker's package that the engine puts beside the attempt's files. */
const CAPTURE_DATASET = '{attemptDir}/hook/echelon_rayworker/engines/verl_agent/capture_dataset.py';

/** What a spec runs in a verl-agent checkout, and how it differs from the recipe's script. */
export interface VerlAgentPlan {
  recipe: Recipe['name'];
  phase: Recipe['phase'];
  /** Started as `python -m program override…`, in the checkout. */
  program: string;
  /** `key=value` in Hydra's grammar. `{attemptDir}` and `{sharedRoot}` are replaced on the cluster. */
  overrides: string[];
  /** Variables of every process of the training, handed on by Ray's runtime environment. */
  environment: Record<string, string>;
  /** Rows of the data files, which carry no task. */
  dataRows: { train: number; validation: number };
  /** Where the checkpoints are, below those of the project on the cluster: `recipe/name-hash`. */
  checkpointDirectory: string;
  /** Steps after which a training is complete; 0 for an evaluation. */
  steps: number;
  /** Bytes that the checkpoints and one export take on the disk; 0 if unknown, or if nothing is saved. */
  diskBytes: number;
  changes: Change[];
  corrections: Correction[];
}

const WHY = {
  program:
    "the script starts a trainer that does not know hgpo (and lacks the recipe's keys): it fails at once",
  sameTrainer:
    "verl-agent's own examples of this estimator run a trainer that pads the batch with copies before the statistics are taken; here it runs where hgpo runs, so that nothing else differs",
  data: 'all scripts share one pair of files with differing numbers of rows; every attempt has its own',
  directory:
    "the script's name omits most settings, so that a different run would resume this one's checkpoints; the hash covers everything that changes the numbers",
  name: 'the name carries the hash of the settings, so that no two different runs share one',
  split:
    'the script sets trainer.val_out to true for in-domain, which in the code is out-of-domain; the plan names the split',
  hydra: "Hydra would write into the checkout's folder",
  hook: 'the capture hook records the advantages and every metric; it is loaded into the trainer by its own hook',
  variables: 'on a running cluster exported variables do not reach the actors; Ray hands these on',
  estimator: 'the trainer reads hgpo settings for hgpo alone',
  checkpoint: 'the named step is evaluated, whatever came after it',
  baseModel: 'the base model is evaluated, and no checkpoint is looked for',
  logger:
    "the script's wandb fails without a key, after all models have been loaded; the capture hook records every metric, so the console is enough",
  keep: 'with one, the old checkpoint is deleted before the new one is written, so that a failure in between leaves none',
  placeholder: 'the script reads it from its loop',
  steps: 'a finished training that is launched again would do one step more; the engine ends at this one',
  secret:
    "a secret or a place of the cluster: it comes from the ray-worker's own environment and is never printed",
  devices: 'Ray assigns the GPUs; the script would export an empty list if it is unset',
} as const;

/** Compiles a resolved spec. Pure; the same spec gives the same plan. */
export function compileVerlAgent(spec: ResolvedVerlAgent): VerlAgentPlan {
  const recipe = recipeOf(spec.recipe);
  const draft = createDraft(recipe.overrides);
  setFields(draft, spec, recipe);
  for (const [key, value] of Object.entries(spec.overrides)) draft.set(key, value);
  const environment: Record<string, string> =
    spec.rollout.attentionBackend === 'auto' ? {} : { VLLM_ATTENTION_BACKEND: spec.rollout.attentionBackend };
  const hash = numbersHash({
    entries: draft.entries(),
    besides: [
      spec.rollout.attentionBackend,
      // The panel of WebShop gives trainings the same goals and prices in all workers.
      ...(recipe.environment === 'webshop' && spec.evaluation.replicates !== undefined ? ['panel'] : []),
      ...countedVariables(spec.env),
    ],
  });
  const checkpointDirectory = setNames(draft, spec, { recipe, hash });
  setOwn(draft, environment);
  return {
    recipe: recipe.name,
    phase: recipe.phase,
    program: recipe.method === 'graphgpo' ? recipe.program : PROGRAM,
    overrides: draft.overrides(),
    environment,
    dataRows: {
      train: spec.rollout.groups,
      validation: spec.evaluation.games * spec.evaluation.rounds,
    },
    checkpointDirectory,
    steps: recipe.phase === 'train' ? spec.training.steps : 0,
    diskBytes: Math.round(diskNeeded(spec)?.total ?? 0),
    changes: draft.changes(),
    corrections: [...engineCorrections(recipe, spec), ...draft.corrections()],
  };
}

function setFields(draft: Draft, spec: ResolvedVerlAgent, { phase, environment, overrides }: Recipe): void {
  if (phase === 'train') {
    if (spec.estimator.name !== 'hgpo') dropHgpo(draft);
    for (const [key, value] of estimatorOverrides(spec.estimator)) draft.set(key, value);
  }
  for (const [key, value] of fieldOverrides(spec))
    draft.set(key, value, reasonOf(key, spec, { phase, overrides }));
  if (environment === 'alfworld') {
    // The flag's code, not its documentation: true is out-of-domain.
    draft.set('trainer.val_out', spec.evaluation.split === 'unseen');
  }
}

/** Why a field differs from the script although the spec does not ask for it; undefined if the spec asks for it. */
function reasonOf(
  key: string,
  { training }: ResolvedVerlAgent,
  { phase, overrides }: Pick<Recipe, 'phase' | 'overrides'>,
): string | undefined {
  if (phase === 'eval' && /^env\.(seed|history_length)$/.test(key)) return WHY.placeholder;
  if (key === 'trainer.max_actor_ckpt_to_keep' && keepsOne(overrides) && training.keepCheckpoints === 2)
    return WHY.keep;
  const isDefaultLogger = training.logger.length === 1 && training.logger[0] === 'console';
  return key === 'trainer.logger' && isDefaultLogger ? WHY.logger : undefined;
}

function dropHgpo(draft: Draft): void {
  for (const [key] of draft.entries()) {
    if (key.startsWith('algorithm.hgpo.')) draft.set(key, null, WHY.estimator);
  }
}

/** Sets project, name and directory; returns the directory, relative to the project's checkpoints. */
function setNames(
  draft: Draft,
  spec: ResolvedVerlAgent,
  { recipe, hash }: { recipe: Recipe; hash: string },
): string {
  const { checkpoint } = spec.evaluation;
  if (recipe.phase === 'train' || checkpoint === undefined) {
    const label = spec.checkpoints.label === null ? '' : `-${spec.checkpoints.label}`;
    const name = `${recipe.phase === 'train' ? trainingName(spec) : baseModelName(spec)}-${hash}${label}`;
    if (recipe.phase === 'eval') draft.set('trainer.resume_mode', 'disable', WHY.baseModel);
    const directory = `${recipe.name}/${name}`;
    draft.set('trainer.experiment_name', name, WHY.name);
    draft.set(
      'trainer.default_local_dir',
      `${projectDirectory('checkpoints', spec.project)}/${directory}`,
      WHY.directory,
    );
    return directory;
  }
  const [, training] = checkpoint.directory.split('/') as [string, string];
  const split = spec.evaluation.split === undefined ? '' : `_${spec.evaluation.split}`;
  const root = `${projectDirectory('checkpoints', spec.project)}/${checkpoint.directory}`;
  draft.set('trainer.experiment_name', `${training}_seed${spec.environment.seed}${split}`, WHY.name);
  draft.set('trainer.default_local_dir', root, WHY.directory);
  if (checkpoint.step !== undefined) {
    draft.set('trainer.resume_mode', 'resume_path', WHY.checkpoint);
    draft.set('trainer.resume_from_path', `${root}/global_step_${checkpoint.step}`, WHY.checkpoint);
  }
  return checkpoint.directory;
}

/** What a person wants to tell apart at a glance; the hash tells the rest. K comes first, as evaluations read it. */
function trainingName({ estimator, environment, rollout }: ResolvedVerlAgent): string {
  const { name, mode, lengthWeightAlpha, baseGroup, normalizeByStd, baseline } = estimator;
  return [
    `k${environment.historyLength}`,
    name,
    ...(mode === undefined ? [] : [mode]),
    ...(lengthWeightAlpha === undefined ? [] : [`alpha${lengthWeightAlpha}`]),
    ...(baseGroup ? ['base'] : []),
    ...(normalizeByStd === false ? ['no-std'] : []),
    ...(baseline ? ['baseline'] : []),
    ...(rollout.dynamicSampling ? ['dynamic'] : []),
    `seed${environment.seed}`,
  ].join('_');
}

/** An evaluation without a training has no estimator. */
function baseModelName({ environment, evaluation }: ResolvedVerlAgent): string {
  const split = evaluation.split === undefined ? '' : `_${evaluation.split}`;
  return `base_k${environment.historyLength}_seed${environment.seed}${split}`;
}

/** Sets what is ours: data files, capture hook, Hydra's own folder and the environment. */
function setOwn(draft: Draft, environment: Readonly<Record<string, string>>): void {
  draft.set('data.train_files', '{attemptDir}/data/train.parquet', WHY.data);
  draft.set('data.val_files', '{attemptDir}/data/test.parquet', WHY.data);
  draft.set('data.custom_cls.path', CAPTURE_DATASET, WHY.hook);
  draft.set('data.custom_cls.name', 'CaptureDataset', WHY.hook);
  draft.set('hydra.run.dir', '{attemptDir}/hydra', WHY.hydra);
  for (const [name, value] of Object.entries(environment)) {
    draft.set(`+ray_init.runtime_env.env_vars.${name}`, value, WHY.variables);
  }
}

function engineCorrections(
  { program, phase, environment, method }: Recipe,
  spec: ResolvedVerlAgent,
): Correction[] {
  const handedOn = Object.entries(SCRIPT_ENVIRONMENT)
    .filter(([, value]) => value.startsWith('$'))
    .map(([name, from]) => ({
      key: `environment.${name}`,
      from,
      to: null,
      reason: name === 'CUDA_VISIBLE_DEVICES' ? WHY.devices : WHY.secret,
    }));
  return [
    ...(program === PROGRAM || method === 'graphgpo'
      ? []
      : [{ key: 'program', from: program, to: PROGRAM, reason: WHY.program }]),
    ...(phase === 'train' && method === 'hgpo' && spec.estimator.name !== 'hgpo'
      ? [{ key: 'program', from: 'verl.trainer.main_ppo', to: PROGRAM, reason: WHY.sameTrainer }]
      : []),
    ...(phase === 'train'
      ? [{ key: 'engine.steps', from: null, to: String(spec.training.steps), reason: WHY.steps }]
      : []),
    ...(phase === 'eval' && environment === 'alfworld'
      ? [{ key: 'evaluation.split', from: null, to: spec.evaluation.split!, reason: WHY.split }]
      : []),
    ...handedOn,
  ];
}

/** The part of a launch plan: the overrides as arguments, and what the driver needs of the plan. */
export function launchOf(
  spec: ResolvedVerlAgent,
): CompiledSpec & Required<Pick<CompiledSpec, 'arguments' | 'plan'>> {
  const { overrides, program, phase, dataRows, steps, diskBytes, ...more } = compileVerlAgent(spec);
  const directory = `${projectDirectory('checkpoints', spec.project)}/${more.checkpointDirectory}`;
  return {
    arguments: overrides,
    plan: { program, phase, dataRows, steps, diskBytes },
    // An evaluation reads the checkpoints of a training, which are not its own.
    ...(phase === 'train' && { checkpointDirectory: directory }),
  };
}

/** What the recipe's script passes, to the letter. */
export function faithfulOverrides(recipe: Recipe): string[] {
  return recipe.overrides.map(([key, text]) => `${key}=${text}`);
}
