import type { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { ResolvedPrompt } from './spec.ts';

/** Values of the `prompt` engine where a spec has none; those of the model are the recipes' for evaluations. */
export const PROMPT_DEFAULTS: Omit<
  ResolvedPrompt,
  'engine' | 'name' | 'model' | 'environment' | 'evaluation' | keyof typeof COMMON_DEFAULTS
> & { model: Omit<ResolvedPrompt['model'], 'baseUrl' | 'name'> } = {
  resources: { nodes: 1, gpus: 0, cpus: 1 },
  model: { temperature: 0.4, maxTokens: 512, price: { input: 0, output: 0 } },
  method: { name: 'act', trials: 1 },
  limits: { concurrency: 8 },
};

type Environment = ResolvedPrompt['environment']['name'];
type Split = NonNullable<ResolvedPrompt['evaluation']['split']>;

/** The splits of each environment, the default first. */
export const SPLITS: Readonly<Record<Environment, readonly Split[]>> = {
  local: ['held-out', 'training'],
  alfworld: ['unseen', 'seen'],
  webshop: [],
};

/** Steps, games and seed of each environment: those of the local engine's evaluation, and of the recipes' scripts. */
const EVALUATIONS: Readonly<Record<Environment, { maxSteps: number; games: number; seed: number }>> = {
  local: { maxSteps: 30, games: 100, seed: 1 },
  alfworld: { maxSteps: 50, games: 128, seed: 123 },
  webshop: { maxSteps: 30, games: 128, seed: 123 },
};

/** Defaults that depend on the environment. */
export function evaluationDefaults(name: Environment): Pick<ResolvedPrompt, 'environment' | 'evaluation'> {
  const { maxSteps, games, seed } = EVALUATIONS[name];
  const [split] = SPLITS[name];
  return {
    environment: { name, seed, maxSteps, historyLength: 2 },
    evaluation: { games, rounds: 1, ...(split === undefined ? {} : { split }) },
  };
}

/** Trials of `reflexion`; the other methods have one. */
export const REFLEXION_TRIALS = 3;
