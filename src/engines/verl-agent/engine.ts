import type { FieldProblem } from '../../core/errors.ts';
import { merge, type Tree } from '../../core/trees.ts';
import { isBelow } from '../directories.ts';
import type { Engine, NamedCheckpoint, TrainedSettings } from '../engine.ts';
import { checkExperiment } from './checks.ts';
import { compileVerlAgent, launchOf } from './compile.ts';
import { gpusOf } from './cpus.ts';
import { fingerprintOf } from './fingerprint.ts';
import { specOfCommand } from './from-script.ts';
import { loadsCode } from './overrides.ts';
import { experimentsOf, verlAgentPresets } from './presets.ts';
import { correctedPlan, faithfulPlan, recipeFields, recipeSpec } from './recipe-plan.ts';
import * as recipeSchemas from './recipe-schemas.ts';
import { RECIPES, recipeOf } from './recipes.ts';
import { resolveVerlAgent, verlAgentContradictions } from './resolve.ts';
import { type RecipeName, type ResolvedVerlAgent, VerlAgentSpec } from './spec.ts';

const OFFLOAD = ['/training/parameterOffload', '/training/optimizerOffload'] as const;

/** Runs verl-agent's `recipe/hgpo` and `recipe/GraphGPO` on GPUs. */
export const VERL_AGENT: Engine<VerlAgentSpec, ResolvedVerlAgent> = {
  name: 'verl-agent',
  summary:
    "Runs verl-agent's recipe/hgpo or recipe/GraphGPO on GPUs; omitted fields are as in the recipe's script.",
  schema: VerlAgentSpec,
  example: { engine: 'verl-agent', name: 'alfworld', recipe: 'qwen2.5_1.5b_alfworld_train' },
  problems: verlAgentContradictions,
  customCode: ({ overrides }) => loadsCode(overrides),
  permissionProblems(spec, { customCode = false, codePaths = [] }) {
    if (customCode) return [];
    const message = 'needs a key with the scope custom-code';
    return [
      ...codePathProblems(spec, codePaths),
      ...(spec.allowCustomCode ? [{ field: '/allowCustomCode', message }] : []),
    ];
  },
  resolve: resolveVerlAgent,
  compile: launchOf,
  fingerprint: fingerprintOf,
  check: checkExperiment,
  notes(spec) {
    const { changes, corrections, ...details } = compileVerlAgent(spec);
    return { changes, corrections, details };
  },
  trained: trainedSettings,
  reads: { pointer: '/evaluation/checkpoint', complete: completeEvaluation },
  presets: {
    get all() {
      return verlAgentPresets();
    },
    experimentsOf,
  },
  recipes: {
    all: RECIPES,
    faithful: (name) => faithfulPlan(name as RecipeName),
    corrected: (name) => correctedPlan(name as RecipeName),
    spec: (name) => recipeSpec(name as RecipeName),
    fields: (name) => recipeFields(name as RecipeName),
    ofCommand: specOfCommand,
  },
  documentSchemas: Object.values(recipeSchemas),
  sizeSettings: ['/environment/cpusPerActor'],
  memory: {
    gpu: {
      lower: [
        '/training/microBatchSizePerGpu',
        '/rollout/logProbMicroBatchSizePerGpu',
        '/rollout/gpuMemoryUtilization',
      ],
      set: { pointers: OFFLOAD, to: true },
    },
    host: { lower: ['/rollout/groups', '/rollout/groupSize'], set: { pointers: OFFLOAD, to: false } },
  },
};

/**
 * Fields of a spec that name a directory on the cluster from which code is loaded: the checkout, and models that are no
 * names of a hub. Such a directory must be one of `allowed` or below one. Pure; symbolic links are the cluster's affair.
 */
export function codePathProblems(spec: VerlAgentSpec, allowed: readonly string[]): FieldProblem[] {
  const named = [
    { field: '/home', path: spec.home },
    { field: '/model/path', path: spec.model?.path },
    { field: '/critic/path', path: spec.critic?.path },
  ];
  return named
    .filter(({ path }) => path !== undefined && leadsToDirectory(path) && !isBelow(path, allowed))
    .map(({ field }) => ({
      field,
      message:
        'names a directory from which code is loaded: that needs a key with the scope custom-code, or a directory that an administrator has allowed for the cluster',
    }));
}

function leadsToDirectory(path: string): boolean {
  return /^[/.~]/.test(path);
}

/** See `Engine.trained`. */
export function trainedSettings(spec: ResolvedVerlAgent, path: string): TrainedSettings | string {
  if (recipeOf(spec.recipe).phase === 'eval') return 'is an evaluation; name its training';
  if (recipeOf(spec.recipe).method === 'graphgpo')
    return 'was trained with the prompts of GraphGPO, which no evaluation recipe has; read its own validations';
  if (spec.training.saveEvery === 0) return 'saves no checkpoints: its training.saveEvery is 0';
  const { home, env, model, resources, rollout } = spec;
  return {
    // The driver knows the directory even if an older version has named it.
    directory: path.split('/').slice(-3, -1).join('/'),
    home,
    env: env ?? {},
    model: { path: model.path, loraRank: model.loraRank, loraAlpha: model.loraAlpha },
    resources: { nodes: resources.nodes ?? 1, gpus: resources.gpus },
    tensorParallelSize: rollout.tensorParallelSize,
  };
}

/** The evaluation of a training that the spec named. */
export function completeEvaluation(
  spec: VerlAgentSpec,
  training: NamedCheckpoint,
): VerlAgentSpec | FieldProblem {
  const { directory, step, cluster, home, env, model, resources, tensorParallelSize } = training;
  const shared = {
    cluster,
    env,
    model,
    resources,
    rollout: { tensorParallelSize },
    ...(home !== null && { home }),
  };
  const evaluation = { ...spec.evaluation, checkpoint: { directory, step } };
  const completed = merge(shared, { ...spec, evaluation } as Tree) as unknown as VerlAgentSpec;
  const [trained, asked] = [gpusOf(resources), gpusOf(completed.resources as typeof resources)];
  if (asked === trained) return completed;
  const message = `must give ${trained} GPUs in all, as the training had, and gives ${asked}; remove resources.gpus and resources.nodes`;
  return { field: '/resources', message };
}
