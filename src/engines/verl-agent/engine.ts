import type { Engine } from '../engine.ts';
import { checkExperiment } from './checks.ts';
import { codePathProblems } from './code-paths.ts';
import { compileVerlAgent, launchOf } from './compile.ts';
import { fingerprintOf } from './fingerprint.ts';
import { loadsCode } from './overrides.ts';
import { experimentsOf, verlAgentPresets } from './presets.ts';
import { correctedPlan, faithfulPlan, recipeFields, recipeSpec } from './recipe-plan.ts';
import * as recipeSchemas from './recipe-schemas.ts';
import { RECIPES } from './recipes.ts';
import { resolveVerlAgent, verlAgentContradictions } from './resolve.ts';
import { type RecipeName, type ResolvedVerlAgent, VerlAgentSpec } from './spec.ts';
import { completeEvaluation, trainedSettings } from './trained.ts';

const OFFLOAD = ['/training/parameterOffload', '/training/optimizerOffload'] as const;

/** Runs verl-agent's `recipe/hgpo` on GPUs. */
export const VERL_AGENT: Engine<VerlAgentSpec, ResolvedVerlAgent> = {
  name: 'verl-agent',
  summary: "Runs verl-agent's recipe/hgpo on GPUs; omitted fields are as in the recipe's script.",
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
