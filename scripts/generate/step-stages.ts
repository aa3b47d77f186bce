// Writes docs/reference/step-stages.md: which stage of a step can be verified for which trainer, from the columns of each source.
import { readFileSync, writeFileSync } from 'node:fs';
import { STAGES, type StageName, type StepReport } from 'echelon-verify/report';
import { stepOfRows } from '../../packages/echelon-verify/src/dumps/steps/adapter.ts';
import { STEP_ADAPTERS } from '../../packages/echelon-verify/src/dumps/steps/registry.ts';
import {
  COLUMN_KEYS,
  type ColumnKey,
  TOKEN_COLUMNS,
} from '../../packages/echelon-verify/src/format/step-columns.ts';
import type { StepSettings } from '../../packages/echelon-verify/src/format/step-settings.ts';
import { verifyStep } from '../../packages/echelon-verify/src/step/verify-step.ts';

/** What a dump or a hook records of a step. */
interface Source {
  trainer: string;
  by: 'files' | 'hook';
  columns: readonly ColumnKey[];
  states: readonly string[];
}

const HOOKS = [
  ['TRL', 'trl_steps'],
  ['ms-swift', 'swift_steps'],
  ['verl', 'verl_steps'],
  ['verl-agent', 'verl_agent_steps'],
] as const;
/** What every hook takes beside the columns of its trainer. */
const OF_EVERY_HOOK: readonly ColumnKey[] = ['lossGradient', 'reportedAdvantage'];

/** What a hook knows of the rows, by the words in its source. */
const OF_ROWS = ['digests', 'trajectory', 'policyVersionStart', 'unknown'];
const MICRO_BATCH = { reportedDenominator: 2, reportedLoss: 0 };
const STEP: Partial<StepSettings> = {
  optimizerStep: 2,
  policyLoss: { name: 'ppo-clip', params: { clipLow: 0.2, clipHigh: 0.2 } },
  rolloutCorrection: {
    level: 'token',
    statistic: 'ratio',
    action: 'truncate',
    appliesTo: 'policy',
    keptWeight: 'statistic',
  },
  kl: { estimator: 'k3', coefficient: 0.1, placement: 'loss', weight: 'none' },
  aggregation: { mode: 'token-mean', scope: 'global', counts: 'mask', rowCount: 'all' },
};

/** A hook names its columns and settings in its source and nowhere else. */
function hookSource([trainer, module]: (typeof HOOKS)[number]): Source {
  const python = readFileSync(`deploy/capture/echelon_capture/${module}.py`, 'utf8');
  const named = (key: string) => python.includes(`"${key}"`);
  return {
    trainer,
    by: 'hook',
    // `reportedLoss` is that of a micro-batch there.
    columns: COLUMN_KEYS.filter(
      (key) => OF_EVERY_HOOK.includes(key) || (named(key) && !(key in MICRO_BATCH)),
    ),
    states: [...Object.keys(STEP), ...Object.keys(MICRO_BATCH), ...OF_ROWS].filter(named),
  };
}

const SOURCES: Source[] = [
  ...HOOKS.map(hookSource),
  ...STEP_ADAPTERS.map(({ title, columns, states, statesOfMicroBatches = [] }): Source => {
    const all = [...states, ...statesOfMicroBatches];
    return { trainer: title.split(' ')[0]!, by: 'files', columns: Object.values(columns), states: all };
  }),
];

/** The report of a step with everything that a source records. */
function reportOf({ columns, states }: Source): StepReport {
  const own = <T extends object>(all: T) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => states.includes(key)));
  const zeros = columns.map((key) => [key, TOKEN_COLUMNS[key].type === 'flag' ? [1, 1] : [0, 0]]);
  const { rolloutCorrection, ...settings } = own(STEP) as Partial<StepSettings>;
  const action = states.includes('unknown') ? { action: 'unknown' as const } : {};
  const step = {
    ...settings,
    ...(rolloutCorrection && { rolloutCorrection: { ...rolloutCorrection, ...action } }),
    microBatches: [{ rank: 0, index: 0, pass: 0, ...own(MICRO_BATCH) }],
    // Of the reported values the entropy needs the fewest columns.
    reported: states.includes('reported') ? { entropy: { value: 0 } } : {},
    ...(states.includes('digests')
      ? { rowDigests: ['1'], sourceDigests: ['1'], wholeTrajectories: true }
      : {}),
  };
  const place = states.includes('trajectory') ? { trajectory: '1/0' } : {};
  const batch = stepOfRows('step', step, [{ columns: Object.fromEntries(zeros), ...place }]);
  const versions = states.includes('policyVersionStart')
    ? { policyVersionStart: Int32Array.of(1), step: { ...batch.step, optimizerStep: 2 } }
    : {};
  return verifyStep({ ...batch, ...versions }, () => [{ rows: new Map([['0', 0]]) }]);
}

/** Stages whose values the gradient coefficient has as factors, with the setting that says the step has them. */
const FACTORS: Partial<Record<StageName, string>> = {
  ratio: 'policyLoss',
  weight: 'rolloutCorrection',
  clip: 'policyLoss',
  loss: 'policyLoss',
  kl: 'kl',
};

function cellsOf(source: Source): string[] {
  const { stages, coverage } = reportOf(source);
  const lacks = new Map(coverage.missing.map((one) => [one.stage as string, one.lacks]));
  const isVerified = (name: string) =>
    (name === 'tokens' && coverage.verified.includes(name)) ||
    (stages.some(({ stage, lacks: own }) => stage === name && own.length === 0) &&
      !(name === 'mask' && lacks.has(name)));
  const hasEngines =
    source.columns.includes('rolloutLogProb') &&
    source.columns.some((key) => key === 'oldLogProb' || key === 'logProb');
  const ofStages = (Object.keys(STAGES) as StageName[]).map((stage) => {
    if (isVerified(stage)) return source.by;
    const factor = FACTORS[stage];
    return factor !== undefined && source.states.includes(factor) && isVerified('gradient')
      ? 'gradient'
      : '–';
  });
  return [...ofStages, hasEngines ? source.by : '–'];
}

const rows = [...Object.entries(STAGES), ['engines', 'log-probs of trainer and rollout engine (findings)']];
const columns = SOURCES.map(cellsOf);
writeFileSync(
  'docs/reference/step-stages.md',
  `# Stages of a training step by trainer

\`npm run generate\` writes this page from the adapters and hooks.

- **files**: verified from what the trainer writes. [The guide](../guides/verify-the-step.md) has the switches.
- **hook**: verified with the capture hook, at the profile \`full\`.
- **gradient**: the trainer reports no value of its own; the gradient coefficient, which the hook records, has the stage as a factor.
- **–**: not verified, because a column or setting is not recorded. \`echelon verify\` names it.

| stage | ${SOURCES.map(({ trainer }) => trainer).join(' | ')} |
| --- |${' --- |'.repeat(SOURCES.length)}
${rows.map(([name, means], at) => `| ${name}: ${means} | ${columns.map((cells) => cells[at]).join(' | ')} |`).join('\n')}

Every stage can be verified for any trainer that writes [the format](batch-format.md) itself with \`capture.step\`.
`,
);
