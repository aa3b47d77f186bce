import type {
  Preset as AnyPreset,
  PresetRun as AnyPresetRun,
  PaperFigures,
  PresetExperiment,
  PresetSettings,
} from '../engine.ts';
import { compileVerlAgent } from './compile.ts';
import { recipeOf } from './recipes.ts';
import { EVALUATION_SEEDS, resolveVerlAgent } from './resolve.ts';
import type { RecipeName, VerlAgentSpec } from './spec.ts';

type Preset = AnyPreset<VerlAgentSpec>;
type PresetRun = AnyPresetRun<VerlAgentSpec>;

const SOURCE = 'He et al., Hierarchy-of-Groups Policy Optimization, ICLR 2026, arXiv 2602.22817';

/** Figures of the paper's main table: GiGPO, and HGPO with K=4. */
const MAIN_TABLE: Readonly<
  Record<'1.5b' | '7b', Readonly<Record<'gigpo' | 'hgpo', Required<PaperFigures>>>>
> = {
  '1.5b': {
    gigpo: { inDomainSuccess: 93.29, outOfDomainSuccess: 91.53, webshopScore: 86.8, webshopSuccess: 73.24 },
    hgpo: { inDomainSuccess: 94.85, outOfDomainSuccess: 92.12, webshopScore: 90.64, webshopSuccess: 78.12 },
  },
  '7b': {
    gigpo: { inDomainSuccess: 95.43, outOfDomainSuccess: 92.79, webshopScore: 88.44, webshopSuccess: 72.5 },
    hgpo: { inDomainSuccess: 95.96, outOfDomainSuccess: 93.75, webshopScore: 90.49, webshopSuccess: 79.29 },
  },
};

/** WebShop score by K, 1.5B; K=0 is GiGPO. */
const ABLATION: readonly (readonly [historyLength: number, webshopScore: number])[] = [
  [0, 86.8],
  [1, 87.32],
  [2, 88.92],
  [4, 90.64],
];

const COMPARISON: readonly (readonly [label: string, settings: Partial<VerlAgentSpec>])[] = [
  ['HGPO', { estimator: { name: 'hgpo' } }],
  ['GiGPO', { estimator: { name: 'gigpo' } }],
  ['GRPO', { estimator: { name: 'grpo' } }],
  ['GRPO without deviation', { estimator: { name: 'grpo', normalizeByStd: false } }],
  ['RLOO', { estimator: { name: 'rloo' } }],
  ['REINFORCE++', { estimator: { name: 'reinforce_plus_plus' } }],
  ['PPO', { estimator: { name: 'ppo' }, resources: { gpus: 1 }, rollout: { tensorParallelSize: 1 } }],
  ['DAPO', { estimator: { name: 'grpo' }, ...dapo() }],
  ['HGPO with DAPO', { estimator: { name: 'hgpo' }, ...dapo() }],
];

/** The sweeps there are. */
export const PRESETS: readonly Preset[] = [
  {
    name: 'paper-main-table',
    title: `Main table: ${SOURCE}`,
    notes: [
      'The paper averages evaluations of the last checkpoint over the seeds 123, 456 and 789.',
      "It does not state GiGPO's prompt history; here it is the recipe's, K=2, and its mode is that of hgpo.",
    ],
    runs: (['1.5b', '7b'] as const).flatMap((size) =>
      (['alfworld', 'webshop'] as const).flatMap((environment) =>
        (['gigpo', 'hgpo'] as const).map((name) =>
          run({
            label: `${name === 'hgpo' ? 'HGPO K=4' : 'GiGPO'} ${size} ${environment}`,
            recipe: `qwen2.5_${size}_${environment}_train`,
            settings: {
              estimator: { name },
              environment: { historyLength: name === 'hgpo' ? 4 : 2 },
            },
            figures: only(environment, MAIN_TABLE[size][name]),
          }),
        ),
      ),
    ),
  },
  {
    name: 'paper-history-ablation',
    title: `Ablation over K, WebShop, 1.5B: ${SOURCE}`,
    notes: [
      'The paper takes GiGPO as K=0; hgpo with K=0 would lack its comparison of whole trajectories.',
      'Only the score is stated.',
    ],
    runs: ABLATION.map(([historyLength, webshopScore]) =>
      run({
        label: historyLength === 0 ? 'K=0 (GiGPO) webshop' : `HGPO K=${historyLength} webshop`,
        recipe: 'qwen2.5_1.5b_webshop_train',
        settings:
          historyLength === 0
            ? { estimator: { name: 'gigpo' } }
            : { estimator: { name: 'hgpo' }, environment: { historyLength } },
        figures: { webshopScore },
      }),
    ),
  },
  {
    name: 'comparison',
    title: 'Estimators on equal terms: ALFWorld, 1.5B, K=2',
    notes: [
      'All run through the HGPO trainer, where statistics are taken before the batch is padded.',
      'PPO runs on one GPU, since the trainer asks the critic before it pads the batch.',
    ],
    runs: COMPARISON.map(([label, settings]) =>
      run({ label, recipe: 'qwen2.5_1.5b_alfworld_train', settings, figures: {} }),
    ),
  },
];

/** DAPO's settings: dynamic sampling, asymmetric clipping, the mean over tokens. */
function dapo(): Pick<VerlAgentSpec, 'rollout' | 'training'> {
  return {
    rollout: { dynamicSampling: true, maxGenerationBatches: 10 },
    training: { clipRatioLow: 0.2, clipRatioHigh: 0.28, lossAggregation: 'token-mean' },
  };
}

function run(input: {
  label: string;
  recipe: RecipeName;
  settings: Partial<VerlAgentSpec>;
  figures: PaperFigures;
}): PresetRun {
  const { label, recipe, settings, figures } = input;
  const train: VerlAgentSpec = { name: label, engine: 'verl-agent', recipe, ...settings };
  return { name: label, figures, train, evaluations: evaluationsOf(train) };
}

/** See `Presets.experimentsOf`. */
export function experimentsOf(
  { train }: PresetRun,
  { label, ...settings }: PresetSettings,
): PresetExperiment<VerlAgentSpec>[] {
  const training = { ...train, ...settings, ...(label !== undefined && { checkpoints: { label } }) };
  const { seed } = resolveVerlAgent(training).environment;
  return [
    { spec: training, phase: 'train', seed },
    ...evaluationsOf(training).map((evaluation) => ({
      spec: { ...evaluation, ...settings },
      phase: evaluation.evaluation!.split ?? 'evaluation',
      seed: evaluation.environment!.seed!,
    })),
  ];
}

/** The recipe's evaluations of a training's last checkpoint: three seeds, on ALFWorld in both domains. */
export function evaluationsOf(train: VerlAgentSpec): VerlAgentSpec[] {
  const resolved = resolveVerlAgent(train);
  const { checkpointDirectory: directory } = compileVerlAgent(resolved);
  const { environment, modelSize } = recipeOf(train.recipe);
  const splits = environment === 'alfworld' ? (['seen', 'unseen'] as const) : [undefined];
  const { nodes, gpus } = resolved.resources;
  // Of this very training: a later one of more steps shares the directory.
  const { steps } = resolved.training;
  const step = resolved.training.saveEvery === 0 ? {} : { step: steps };
  return splits.flatMap((split) =>
    EVALUATION_SEEDS.map(
      (seed): VerlAgentSpec => ({
        name: [train.name, ...(split === undefined ? [] : [split]), `seed ${seed}`].join(', '),
        engine: 'verl-agent',
        recipe: `qwen2.5_${modelSize}_${environment}_eval`,
        resources: { nodes, gpus },
        rollout: { tensorParallelSize: resolved.rollout.tensorParallelSize },
        environment: { seed, historyLength: resolved.environment.historyLength },
        evaluation: { ...(split === undefined ? {} : { split }), checkpoint: { directory, ...step } },
      }),
    ),
  );
}

function only(environment: 'alfworld' | 'webshop', figures: Required<PaperFigures>): PaperFigures {
  const { inDomainSuccess, outOfDomainSuccess, webshopScore, webshopSuccess } = figures;
  return environment === 'alfworld'
    ? { inDomainSuccess, outOfDomainSuccess }
    : { webshopScore, webshopSuccess };
}
