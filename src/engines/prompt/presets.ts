import type { Preset as AnyPreset, PaperFigures, PresetRun, Presets } from '../engine.ts';
import type { PromptSpec } from './spec.ts';

type Model = PromptSpec['model'];

const SEED = 123;

/** The prompted rows of the paper's main table, and the models that the paper trains, as they are before. */
const MODELS: readonly {
  label: string;
  model: Model;
  secrets?: Record<string, string>;
  figures: PaperFigures;
}[] = [
  {
    label: 'GPT-4o',
    model: { baseUrl: 'https://api.openai.com/v1', name: 'gpt-4o', apiKey: 'OPENAI_API_KEY' },
    secrets: { OPENAI_API_KEY: 'openai' },
    figures: { outOfDomainSuccess: 48 },
  },
  {
    label: 'Gemini-2.5-Pro',
    model: {
      baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
      name: 'gemini-2.5-pro',
      apiKey: 'GEMINI_API_KEY',
    },
    secrets: { GEMINI_API_KEY: 'gemini' },
    figures: { outOfDomainSuccess: 60.3 },
  },
  ...['1.5B', '7B'].map((size) => ({
    label: `Qwen2.5-${size}-Instruct`,
    model: { baseUrl: 'http://127.0.0.1:8000/v1', name: `Qwen/Qwen2.5-${size}-Instruct` },
    figures: {},
  })),
];

const PAPER: AnyPreset<PromptSpec> = {
  name: 'paper-prompted',
  title: 'Prompted rows: He et al., Hierarchy-of-Groups Policy Optimization, ICLR 2026, arXiv 2602.22817',
  notes: [
    'ALFWorld out of domain (valid_unseen), 128 games, seed 123. A run makes up to 6,400 calls; no budget is set, since prices change.',
    "GPT-4o and Gemini-2.5-Pro use the secrets `openai` and `gemini` of the cluster. The paper states no settings of its prompted rows: prompts, temperature and steps are those of the recipe's evaluations.",
    'The paper has no figures of the untrained Qwen models here. Start them on the node of the ray-worker with `vllm serve Qwen/Qwen2.5-1.5B-Instruct`. Their endpoint http://127.0.0.1:8000 needs the scope custom-code, or the operator adds it to ECHELON_PROMPT_ENDPOINTS.',
    "Every run uses the cluster's own verl-agent checkout: the settings for a checkout and for checkpoints have no effect.",
  ],
  runs: MODELS.map(({ label, figures, model, secrets = {} }): PresetRun<PromptSpec> => {
    const environment = { name: 'alfworld', seed: SEED } as const;
    const train: PromptSpec = { name: `${label}, prompted`, engine: 'prompt', secrets, model, environment };
    return { name: label, figures, train, evaluations: [] };
  }),
};

/** The prompted rows of the paper. */
export const PROMPT_PRESETS: Presets<PromptSpec> = {
  all: [PAPER],
  experimentsOf: ({ train }, { home: _home, label: _label, ...settings }) => [
    { spec: { ...train, ...settings }, phase: 'unseen', seed: SEED },
  ],
};
