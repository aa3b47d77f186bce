import type { FieldProblem } from '../../core/errors.ts';
import { merge } from '../../core/trees.ts';
import { COMMON_DEFAULTS } from '../common-defaults.ts';
import type { Engine } from '../engine.ts';
import { checkoutCpus, checkoutPlan } from './checkout.ts';
import { evaluationDefaults, PROMPT_DEFAULTS, REFLEXION_TRIALS, SPLITS } from './defaults.ts';
import { addressProblems, unlistedProblem } from './endpoint.ts';
import { PROMPT_PRESETS } from './presets.ts';
import { PromptSpec, type ResolvedPrompt } from './spec.ts';

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
