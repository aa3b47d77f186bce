import type { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { ResolvedPrompt } from './spec.ts';

/** Values of the `prompt` engine where a spec has none; those of the model are the recipes' for evaluations. */
export const PROMPT_DEFAULTS: Omit<
  ResolvedPrompt,
  'engine' | 'name' | 'model' | keyof typeof COMMON_DEFAULTS
> & { model: Omit<ResolvedPrompt['model'], 'baseUrl' | 'name'> } = {
  resources: { nodes: 1, gpus: 0, cpus: 1 },
  model: { temperature: 0.4, maxTokens: 512, price: { input: 0, output: 0 } },
  method: { name: 'act', trials: 1 },
  environment: { name: 'local', seed: 1, maxSteps: 30, historyLength: 2 },
  evaluation: { games: 100, rounds: 1, split: 'held-out' },
  limits: { concurrency: 8 },
};

/** Trials of `reflexion`; the other methods have one. */
export const REFLEXION_TRIALS = 3;
