/** What finds and names a planted bug, and the table of all of them. */

import { explainToken } from '../../src/explain/explain-step.ts';
import type { StepBatch } from '../../src/format/step-batch.ts';
import { identifyStep } from '../../src/identify/steps/identify-step.ts';
import type { StepReport } from '../../src/step/model/step-report.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { GOLDEN_TRAINERS, goldenSteps } from './golden-steps.ts';
import { MISSED, PLANTED } from './planted.ts';
import { powerTable } from './power.ts';

/** Stages with something wrong, wrong values, and findings. */
export function foundBy({ stages, values, findings }: StepReport): string[] {
  return [
    ...stages.filter(({ wrong }) => wrong > 0).map(({ stage }) => `stage ${stage}`),
    ...values.filter(({ outcome }) => outcome === 'wrong').map(({ name }) => `value ${name}`),
    ...findings.map(({ code }) => `finding ${code}`),
  ];
}

/** What `identify` says, or the likely causes of the first wrong token. */
export function nameOf(batch: StepBatch, report: StepReport): string {
  const { explanations, clues } = identifyStep(batch);
  const all = [...explanations.map((changes) => changes.join(', and ')), ...clues];
  if (all.length > 0) return all.join(' | ');
  const [wrong] = report.wrongTokens;
  return wrong === undefined ? '' : explainToken(batch, wrong.row, wrong.token).causes.join(' | ');
}

/** The table of docs/evidence/step-detection.md. */
export function detectionPage(): string {
  const rows = PLANTED.map(({ source, what, batch: make }) => {
    const batch = make();
    const report = verifyStep(batch);
    const name = nameOf(batch, report).split(' | ').slice(0, 2).join('; or ');
    return `| ${source} | ${what} | ${foundBy(report).join(', ')} | ${cell(name)} |`;
  });
  const named = rows.filter((row) => !row.endsWith('| – |')).length;
  return `# Detection of bugs of the training step

${PLANTED.length} bugs that were public in trainers, or can be read in their sources, are planted into simulated optimizer steps of two ranks
with three micro-batches of unequal size each. \`echelon verify\` finds all of them; \`echelon identify\` or
\`echelon explain\` names ${named}, and for the others the stage or the finding says what is wrong.
\`npm run generate\` writes this page; the tests in \`packages/echelon-verify/test/step/planted.test.ts\` fail if one is no longer found.

A finding is a statistic with a standard error; everything else is an outcome from a derived bound or an equality of integers.

| bug | what was planted | found by | explanation |
| --- | --- | --- | --- |
${rows.join('\n')}

## Detection power by precision

The smallest error of a denominator that is found in simulated steps of 15 rows. In float32 single tokens show it. In bfloat16 a token
may be off by several percent; the sums over the tokens of a micro-batch, a rank and the step show less, down to what roundings that
all of them share can give. The bound of a sum is derived in \`packages/echelon-verify/src/step/stages/shared-factor.ts\`.

${powerTable()}

## Not found

| bug | why |
| --- | --- |
${MISSED.map(({ source, why }) => `| ${source} | ${why} |`).join('\n')}

## Through the capture hooks, on several ranks

The hooks record trainings on ranks that are connected with gloo, three micro-batches each, with rows of unequal length. \`echelon verify\` joins the
files of the ranks and counts denominators from their masks. Of the 21 public bugs of denominators and loss scales, the tests plant all that a
hook can see into the trainers' own functions, and bugs between generation and loss, and of reported values. Each is found. Without the file of one
rank, denominators and gradients are unverifiable.

| trainer | ranks | right configurations | planted denominators and scales | planted rows, masks and reported values | missed |
| --- | --- | --- | --- | --- | --- |
| verl 0.9.1, its engine and losses | 2 and 4 | 7, of which 2 in bfloat16 | 13 | 2 | 0 |
| TRL 1.16.0, trainings | 2, and 4 of them on 4 | 8, of which 1 in bfloat16 | 13 | 6 | 0 |

Not planted: Megatron-LM #6660 doubles gradients after the loss, which no hook of the loss sees; the gradient norm shows it. Tests:
\`deploy/capture/tests/test_verl_ranks.py\`, \`deploy/capture/tests/test_trl_ranks.py\`.

## No false alarm

No stage is wrong or unverifiable in the optimizer steps that trainers' own functions computed on the CPU in float32 and bfloat16. The
steps have up to four micro-batches and two ranks, which are computed one after the other. Those of \`trl-ranks\` are from trainings on two
ranks at once (gloo), as the capture hook recorded them. Removing a column or a setting makes none of them wrong.

| trainer | functions | steps | trained tokens |
| --- | --- | --- | --- |
${GOLDEN_TRAINERS.map(goldenRow).join('\n')}

The tests of \`deploy/capture/tests\` record further steps with the hooks, in trainings on the CPU that have the same bits without the hook:

| hook | trained with | steps |
| --- | --- | --- |
| TRL | TRL 1.16.0, a model of two layers, 8 configurations | 48 |
| ms-swift | the loss of ms-swift 4.6.0 in a loop of the test, 13 configurations | 52 |
| verl-agent | its \`DataParallelPPOActor\` (fork 37aec78), a Qwen2 model of two layers, 6 configurations | 72 |
| verl-agent in a process of Ray 2.60.0 | the same, with the hook as \`external_lib\`; a second run with a planted aggregation was found and named | 6 |

Tests: \`packages/echelon-verify/test/step/golden-steps.test.ts\`. Values: \`scripts/golden/step_*.py\`, seed 20261124.
`;
}

const FUNCTIONS = {
  verl: 'verl 0.9.1: policy losses, aggregation, KL penalty, TIS weights, metrics',
  trl: 'TRL 1.16.0: `GRPOTrainer._compute_loss`',
  'prime-rl': 'prime-rl 559b4477: `default_loss_fn`',
  skyrl: 'SkyRL a9564572: policy losses, loss reductions, TIS',
  'nemo-rl': 'NeMo-RL 7ea279ab: `ClippedPGLossFn`, `calculate_kl`',
  'trl-ranks': 'TRL 1.16.0: trainings with its `GRPOTrainer` on two ranks with four micro-batches each',
  slime: 'slime 624b824a: `loss_function`, `policy_loss_function`, TIS, IcePop, KL',
};

function goldenRow(trainer: (typeof GOLDEN_TRAINERS)[number]): string {
  const steps = goldenSteps(trainer);
  const tokens = steps.reduce((sum, step) => sum + verifyStep(step).trained, 0);
  return `| ${trainer} | ${FUNCTIONS[trainer]} | ${steps.length} | ${tokens.toLocaleString('en-US')} |`;
}

const cell = (text: string): string => (text === '' ? '–' : text.replaceAll('|', '\\|'));
