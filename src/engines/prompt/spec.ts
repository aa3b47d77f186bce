import { type Static, Type } from 'typebox';
import { DescribedObject, NamedObject, StrictObject } from '../../schemas/objects.ts';
import { choice, count, number, positive, section } from '../../schemas/optional-fields.ts';
import { CpuResources, commonFields } from '../../schemas/spec-parts.ts';
import type { Complete, Resolved } from '../engine.ts';

/**
 * http or https, a host without credentials, and a path without a query or `..`: nothing of it can be a second argument,
 * and calls stay below it.
 */
const BASE_URL =
  '^https?://([A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]{2,45}\\])(:[0-9]{1,5})?(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]{1,100}){0,10}/?$';
const MODEL_NAME = '^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,199}$';
const VARIABLE = '^[A-Za-z_][A-Za-z0-9_]{0,127}$';

/** The model, how it is asked, and what it costs. */
const PromptModel = StrictObject({
  baseUrl: Type.String({
    pattern: BASE_URL,
    description:
      'Address of an OpenAI-compatible endpoint, up to the part before /chat/completions, e.g. https://api.openai.com/v1. It holds no credentials and no query. Without the scope custom-code it must be among the endpoints that the operator allows (ECHELON_PROMPT_ENDPOINTS).',
  }),
  name: Type.String({ pattern: MODEL_NAME, description: 'Name of the model, as the endpoint knows it.' }),
  apiKey: Type.Optional(
    Type.String({
      pattern: VARIABLE,
      description:
        'Name of the variable under /secrets that holds the key, e.g. OPENAI_API_KEY; never the key itself. Omitted: no key is sent.',
    }),
  ),
  temperature: number(0, 10, 'Sampling temperature. Default: 0.4, as in the evaluations of the recipes.'),
  maxTokens: count(1, 1e6, 'Maximum number of tokens of a response.'),
  price: Type.Optional(
    DescribedObject('Money per million tokens of prompts and of responses. Default: 0.', {
      input: Type.Number({ minimum: 0, maximum: 1e6 }),
      output: Type.Number({ minimum: 0, maximum: 1e6 }),
    }),
  ),
});

/** A prompted model on the tasks of an evaluation. */
export const PromptSpec = NamedObject('PromptSpec', {
  ...commonFields,
  resources: Type.Optional(CpuResources),
  engine: Type.Literal('prompt'),
  model: PromptModel,
  method: section({
    name: choice(
      ['act', 'react', 'reflexion'],
      '`act`: the prompt of the environment alone. `react`: also the reasoning of the previous steps. `reflexion`: as `react`, and failed games are tried again with a reflection on each failure.',
    ),
    trials: count(1, 20, 'reflexion: maximum number of trials of a game. Default: 3.'),
  }),
  environment: section({
    name: choice(
      ['local', 'alfworld', 'webshop'],
      "`local`: the text environment of the engine `local`. `alfworld`, `webshop`: those of the cluster's verl-agent checkout, as its evaluations make them.",
    ),
    seed: count(0, 2147483647, 'Random seed of the games.'),
    maxSteps: count(1, 1000, 'Maximum number of environment steps of an episode.'),
    historyLength: count(0, 64, 'Number of previous steps in the prompt.'),
  }),
  evaluation: section({
    games: count(1, 4096, 'Number of games of a round.'),
    rounds: count(1, 100, 'Number of rounds. Success rates are means over the rounds.'),
    split: choice(
      ['held-out', 'training', 'seen', 'unseen'],
      'local: `held-out` games, as in evaluations, or those of the first `training` step. alfworld: `unseen` is out-of-domain (valid_unseen), `seen` in-domain (valid_seen). webshop has no splits.',
    ),
  }),
  limits: section({
    concurrency: count(1, 1024, 'Maximum number of calls at the same time.'),
    requestsPerMinute: count(1, 1e6, 'Maximum number of calls per minute. Default: no limit.'),
    tokensPerMinute: count(
      1,
      1e9,
      'Maximum number of tokens per minute, of prompts and responses. Default: no limit.',
    ),
    budget: positive(
      1e9,
      'Money that all attempts together may spend, in the currency of /model/price. The experiment fails before a call that might exceed it. Default: no limit.',
    ),
  }),
});
export type PromptSpec = Static<typeof PromptSpec>;

type Part<K extends keyof PromptSpec> = NonNullable<PromptSpec[K]>;

/** A resolved {@link PromptSpec}. Limits, the variable of the key and the split are present only if there are any. */
export type ResolvedPrompt = Resolved<PromptSpec, 'model' | 'limits' | 'evaluation'> & {
  evaluation: Omit<Complete<Part<'evaluation'>>, 'split'> & Pick<Part<'evaluation'>, 'split'>;
  model: Complete<Omit<Part<'model'>, 'apiKey'>> & Pick<Part<'model'>, 'apiKey'>;
  limits: Part<'limits'> & { concurrency: number };
};
