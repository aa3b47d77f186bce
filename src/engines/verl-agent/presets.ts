import type {
  Preset as AnyPreset,
  PresetRun as AnyPresetRun,
  PaperFigures,
  PresetExperiment,
  PresetSettings,
} from '../engine.ts';
import { gigabytes } from '../model-size.ts';
import { compileVerlAgent } from './compile.ts';
import { diskNeeded } from './disk.ts';
import { recipeOf } from './recipes.ts';
import { EVALUATION_SEEDS, resolveVerlAgent } from './resolve.ts';
import type { VerlAgentEstimatorName as Estimator, RecipeName, VerlAgentSpec } from './spec.ts';

type Preset = AnyPreset<VerlAgentSpec>;
type PresetRun = AnyPresetRun<VerlAgentSpec>;

const SOURCE = 'He et al., Hierarchy-of-Groups Policy Optimization, ICLR 2026, arXiv 2602.22817';

/** Figures of the paper's main table: GiGPO and HGPO, both with K=4. */
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

type Row = readonly [label: string, settings: Partial<VerlAgentSpec>];

/** PPO compares no trajectories: verl-agent's own script of it has as many tasks as the others have trajectories. */
const PPO = { estimator: { name: 'ppo' }, rollout: { groups: 128, groupSize: 1 } } as const;

const COMPARISON: readonly Row[] = [
  ['HGPO', { estimator: { name: 'hgpo' } }],
  ['GiGPO', { estimator: { name: 'gigpo' } }],
  ['GRPO', { estimator: { name: 'grpo' } }],
  ['Dr. GRPO', drGrpo()],
  ['RLOO', { estimator: { name: 'rloo' } }],
  ['REINFORCE++', { estimator: { name: 'reinforce_plus_plus' } }],
  ['PPO', PPO],
  ['DAPO', { estimator: { name: 'grpo' }, ...dapo() }],
  ['HGPO with DAPO', { estimator: { name: 'hgpo' }, ...dapo() }],
];

const PPO_NOTE =
  "PPO has 128 tasks with one trajectory each, as in verl-agent's own script of PPO; the others have 16 tasks with 8.";

/** Rows of the main table, and K of each. */
const METHODS: readonly (readonly [label: string, name: Estimator, historyLength: number])[] = [
  ['PPO', 'ppo', 2],
  ['RLOO', 'rloo', 2],
  ['GRPO', 'grpo', 2],
  ['GiGPO K=2', 'gigpo', 2],
  ['GiGPO K=4', 'gigpo', 4],
  ['HGPO K=2', 'hgpo', 2],
  ['HGPO K=4', 'hgpo', 4],
];

/** Sweeps over one setting of hgpo each, on both environments with 1.5B; the paper's figures for them are not known here. */
const ABLATIONS: readonly { name: string; title: string; rows: readonly Row[] }[] = [
  {
    name: 'alpha-ablation',
    title: 'Ablation over the exponent alpha of the level weights',
    rows: [0, 0.5, 1, 2].map(
      (lengthWeightAlpha): Row => [
        `alpha=${lengthWeightAlpha}`,
        { estimator: { name: 'hgpo', lengthWeightAlpha } },
      ],
    ),
  },
  {
    name: 'base-group-ablation',
    title: 'Ablation of the comparison of whole trajectories',
    rows: [false, true].map(
      (baseGroup): Row => [
        baseGroup ? 'with base group' : 'without base group',
        { estimator: { name: 'hgpo', baseGroup } },
      ],
    ),
  },
  {
    name: 'mode-ablation',
    title: 'Ablation of the division by the standard deviation',
    rows: (['mean_std_norm', 'mean_norm'] as const).map(
      (mode): Row => [mode, { estimator: { name: 'hgpo', mode } }],
    ),
  },
  {
    name: 'group-size-ablation',
    title: 'Ablation over the trajectories per task',
    rows: [4, 8, 16].map((groupSize): Row => [`group size ${groupSize}`, { rollout: { groupSize } }]),
  },
];

let made: readonly Preset[] | undefined;

/** The sweeps there are. Made at the first call, since every training of theirs is compiled. */
export function verlAgentPresets(): readonly Preset[] {
  made ??= [mainTable(), historyAblation(), comparison(), ...ABLATIONS.map(ablation)];
  return made;
}

function mainTable(): Preset {
  const runs = (['1.5b', '7b'] as const).flatMap((size) =>
    (['alfworld', 'webshop'] as const).flatMap((environment) =>
      METHODS.map(([label, name, historyLength]) =>
        run({
          label: `${label} ${size} ${environment}`,
          recipe: `qwen2.5_${size}_${environment}_train`,
          settings: { ...(name === 'ppo' ? PPO : { estimator: { name } }), environment: { historyLength } },
          figures: mainFigures({ size, environment, name, historyLength }),
        }),
      ),
    ),
  );
  return {
    name: 'paper-main-table',
    title: `Main table: ${SOURCE}`,
    notes: [
      'The paper averages evaluations of the last checkpoint over the seeds 123, 456 and 789.',
      "GiGPO's figures stand beside K=4: the paper's gains of K=4 are the differences from them. GiGPO with K=2 is the counterpart of HGPO with K=2.",
      'The paper states no hyperparameters of PPO, RLOO and GRPO; they have those of hgpo, and K=2.',
      PPO_NOTE,
      'Prompted agents on ALFWorld out of domain: GPT-4o 48.0, Gemini-2.5-Pro 60.3.',
      diskNote(runs),
    ],
    runs,
  };
}

function historyAblation(): Preset {
  return {
    name: 'paper-history-ablation',
    title: `Ablation over K, WebShop, 1.5B: ${SOURCE}`,
    notes: [
      'The paper takes GiGPO as K=0; hgpo with K=0 would lack its comparison of whole trajectories. This run has 4 steps in its prompt, as in the main table.',
      'Only the score is stated.',
    ],
    runs: ABLATION.map(([historyLength, webshopScore]) =>
      run({
        label: historyLength === 0 ? 'K=0 (GiGPO) webshop' : `HGPO K=${historyLength} webshop`,
        recipe: 'qwen2.5_1.5b_webshop_train',
        settings:
          historyLength === 0
            ? { estimator: { name: 'gigpo' }, environment: { historyLength: 4 } }
            : { estimator: { name: 'hgpo' }, environment: { historyLength } },
        figures: { webshopScore },
      }),
    ),
  };
}

function comparison(): Preset {
  return {
    name: 'comparison',
    title: 'Estimators on equal terms: ALFWorld, 1.5B, K=2',
    notes: [
      'All run through the HGPO trainer, where statistics are taken before the batch is padded.',
      PPO_NOTE,
      'Dr. GRPO divides neither by the deviation nor by the length of a response.',
    ],
    runs: COMPARISON.map(([label, settings]) =>
      run({ label, recipe: 'qwen2.5_1.5b_alfworld_train', settings, figures: {} }),
    ),
  };
}

function ablation({ name, title, rows }: (typeof ABLATIONS)[number]): Preset {
  return {
    name,
    title: `${title}: hgpo, K=2, 1.5B`,
    notes: [
      "No figures of the paper are recorded for this ablation; the recipe's own setting is among the rows.",
    ],
    runs: (['alfworld', 'webshop'] as const).flatMap((environment) =>
      rows.map(([label, settings]) =>
        run({
          label: `${label} ${environment}`,
          recipe: `qwen2.5_1.5b_${environment}_train`,
          settings,
          figures: {},
        }),
      ),
    ),
  };
}

/** The figures of a row of the main table; of hgpo with K=2 the paper's ablation has the WebShop score of 1.5B. */
function mainFigures(row: {
  size: '1.5b' | '7b';
  environment: 'alfworld' | 'webshop';
  name: Estimator;
  historyLength: number;
}): PaperFigures {
  const { size, environment, name, historyLength } = row;
  if (name !== 'gigpo' && name !== 'hgpo') return {};
  if (historyLength === 4) return only(environment, MAIN_TABLE[size][name]);
  const score = ABLATION.find(([length]) => length === historyLength)?.[1];
  const isAblated = name === 'hgpo' && environment === 'webshop' && size === '1.5b';
  return isAblated && score !== undefined ? { webshopScore: score } : {};
}

/** The space that the checkpoints of all trainings take. */
function diskNote(runs: readonly PresetRun[]): string {
  const bytes = runs.map(({ train }) => diskNeeded(resolveVerlAgent(train))?.total ?? 0);
  const total = bytes.reduce((sum, one) => sum + one, 0);
  return `The checkpoints of all trainings, two of each with one export, take about ${gigabytes(total)}.`;
}

/** Dr. GRPO's settings: no deviation, and a sum over tokens that no length divides. */
function drGrpo(): Partial<VerlAgentSpec> {
  return {
    estimator: { name: 'grpo', normalizeByStd: false },
    training: { lossAggregation: 'seq-mean-token-sum-norm' },
  };
}

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
  // Only the last checkpoint is evaluated, and a table's checkpoints share one disk.
  const training = { keepCheckpoints: 2, ...settings.training };
  const train: VerlAgentSpec = { name: label, engine: 'verl-agent', recipe, ...settings, training };
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
        // Where models and data are, and everything else that its training has read.
        ...(train.env === undefined ? {} : { env: train.env }),
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
