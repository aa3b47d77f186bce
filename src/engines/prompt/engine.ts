import type { FieldProblem } from '../../core/errors.ts';
import { merge } from '../../core/trees.ts';
import { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { CompiledSpec, Engine } from '../engine.ts';
import { launchOf } from '../verl-agent/compile.ts';
import { resolveVerlAgent } from '../verl-agent/resolve.ts';
import type { ResolvedVerlAgent } from '../verl-agent/spec.ts';
import { addressProblems, unlistedProblem } from './endpoint.ts';
import { PROMPT_PRESETS } from './presets.ts';
import { PromptSpec, type ResolvedPrompt } from './spec.ts';

/** Values of the `prompt` engine where a spec has none; those of the model are the recipes' for evaluations. */
export const PROMPT_DEFAULTS: Omit<
  ResolvedPrompt,
  'engine' | 'name' | 'model' | 'environment' | 'evaluation' | keyof typeof COMMON_DEFAULTS
> & { model: Omit<ResolvedPrompt['model'], 'baseUrl' | 'name'> } = {
  resources: { nodes: 1, gpus: 0, cpus: 1, nodeLabels: {} },
  model: { temperature: 0.4, maxTokens: 512, price: { input: 0, output: 0 } },
  method: { name: 'act', trials: 1 },
  limits: { concurrency: 8 },
};

type Environment = ResolvedPrompt['environment']['name'];
type Split = NonNullable<ResolvedPrompt['evaluation']['split']>;

/** The splits of each environment, the default first. */
const SPLITS: Readonly<Record<Environment, readonly Split[]>> = {
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
const REFLEXION_TRIALS = 3;

/** Evaluates a prompted model. */
export const PROMPT: Engine<PromptSpec, ResolvedPrompt> = {
  name: 'prompt',
  summary: 'Evaluates a prompted model behind an OpenAI-compatible endpoint; needs no GPU.',
  schema: PromptSpec,
  example: {
    engine: 'prompt',
    name: 'prompted, act',
    model: { baseUrl: 'http://127.0.0.1:8000/v1', name: 'Qwen/Qwen2.5-1.5B-Instruct' },
  },
  problems: (spec) =>
    [endpointProblems, keyProblems, splitProblems, methodProblems, budgetProblems].flatMap((find) =>
      find(spec),
    ),
  customCode: () => false,
  permissionProblems: ({ model }, { customCode = false, endpoints = [] }) =>
    customCode ? [] : unlistedProblem(model.baseUrl, endpoints),
  resolve(spec) {
    const { name = 'local' } = spec.environment ?? {};
    const trials = spec.method?.name === 'reflexion' ? REFLEXION_TRIALS : 1;
    const common = { ...COMMON_DEFAULTS, ...PROMPT_DEFAULTS, ...evaluationDefaults(name) };
    const filled = merge(merge(common, { method: { trials } }), spec) as unknown as ResolvedPrompt;
    if (name !== 'local') filled.resources.cpus = spec.resources?.cpus ?? checkoutCpus(filled);
    return filled;
  },
  compile: (spec) => (spec.environment.name === 'local' ? {} : checkoutPlan(spec)),
  fingerprint: () => null,
  presets: PROMPT_PRESETS,
};

const endpointProblems = ({ model }: PromptSpec) => addressProblems(model.baseUrl);

function keyProblems({ model, secrets = {} }: PromptSpec): FieldProblem[] {
  const { apiKey } = model;
  if (apiKey === undefined || Object.hasOwn(secrets, apiKey)) return [];
  const message = `names the variable ${apiKey}, which is not under /secrets; add {"${apiKey}": "NAME"} there, with the name of the secret on the cluster`;
  return [{ field: '/model/apiKey', message }];
}

function splitProblems({ environment = {}, evaluation = {} }: PromptSpec): FieldProblem[] {
  const { name = 'local' } = environment;
  const { split } = evaluation;
  if (split === undefined || SPLITS[name].includes(split)) return [];
  const known =
    SPLITS[name].length === 0 ? 'remove it: there are no splits' : `take ${SPLITS[name].join(' or ')}`;
  return [{ field: '/evaluation/split', message: `is no split of ${name}; ${known}` }];
}

function methodProblems({ method = {} }: PromptSpec): FieldProblem[] {
  if (method.name === 'reflexion' || method.trials === undefined || method.trials === 1) return [];
  return [
    {
      field: '/method/trials',
      message: `has no effect on ${method.name ?? 'act'}; remove it, or set /method/name to reflexion`,
    },
  ];
}

function budgetProblems({ model, limits = {} }: PromptSpec): FieldProblem[] {
  const { input = 0, output = 0 } = model.price ?? {};
  if (limits.budget === undefined || input + output > 0) return [];
  return [{ field: '/limits/budget', message: 'cannot be kept without a price; add /model/price' }];
}

type Played = Pick<ResolvedPrompt, 'name' | 'environment' | 'evaluation'>;

/**
 * The evaluation of verl-agent's recipe whose environments are played: an evaluation of a base model, of which only the
 * environments are made. The size of the recipe's model changes nothing of them.
 */
function evaluationOf({ name, environment, evaluation }: Played): ResolvedVerlAgent {
  const { name: played, ...settings } = environment;
  const { games, rounds, split } = evaluation;
  return resolveVerlAgent({
    engine: 'verl-agent',
    name,
    recipe: `qwen2.5_1.5b_${played as 'alfworld' | 'webshop'}_eval`,
    resources: { nodes: 1, gpus: 0 },
    environment: settings,
    evaluation: {
      games,
      rounds,
      baseModel: true,
      ...(split === undefined ? {} : { split: split as 'seen' | 'unseen' }),
    },
  });
}

/** That evaluation with its plan, as the verl-agent engine takes them. */
function checkoutPlan(played: Played): Required<Pick<CompiledSpec, 'arguments' | 'plan'>> {
  const spec = evaluationOf(played);
  const { arguments: overrides, plan } = launchOf(spec);
  return { arguments: overrides, plan: { evaluation: { spec, plan } } };
}

/** The CPUs of its environments, and one for the driver. */
function checkoutCpus(played: Played): number {
  return evaluationOf(played).resources.cpus;
}
