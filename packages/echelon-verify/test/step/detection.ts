/** What finds and names a planted bug, and the table of all of them. */

import { explainToken } from '../../src/explain/explain-step.ts';
import type { StepBatch } from '../../src/format/step-batch.ts';
import { identifyStep } from '../../src/identify/steps/identify-step.ts';
import type { StepReport } from '../../src/step/model/step-report.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { GOLDEN_TRAINERS, goldenSteps } from './golden-steps.ts';
import { MISSED, PLANTED, type Planted } from './planted.ts';
import { FILES, inFiles } from './planted-files.ts';
import { HOOKS, type HookName, hookRecords } from './planted-hooks.ts';
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
  const hooks = hookRecords();
  const rows = PLANTED.map((planted) => {
    const { source, what, batch: make } = planted;
    const batch = make();
    const report = verifyStep(batch);
    const name = cell(nameOf(batch, report).split(' | ').slice(0, 2).join('; or '));
    const places = `${throughHooks(source, hooks)} | ${fromFiles(planted)}`;
    return { name, row: `| ${source} | ${what} | ${foundBy(report).join(', ')} | ${name} | ${places} |` };
  });
  const named = rows.filter(({ name }) => name !== '–').length;
  return `# Detection of bugs of the training step

${PLANTED.length} bugs that were public in trainers, or can be read in their sources, are planted into simulated optimizer steps of two ranks
with three micro-batches of unequal size each. \`echelon verify\` finds all of them; \`echelon identify\` or
\`echelon explain\` names ${named}, and for the others the stage or the finding says what is wrong.
\`npm run generate\` writes this page; the tests in \`packages/echelon-verify/test/step/planted.test.ts\` fail if one is no longer found.

A finding is a statistic with a standard error; everything else is an outcome from a derived bound or an equality of integers.

| bug | what was planted | found by | explanation | through our hook | from the trainer’s files |
| --- | --- | --- | --- | --- | --- |
${rows.map(({ row }) => row).join('\n')}

### Through our hook

The bugs are also planted into trainings of TRL 1.16.0 and into verl 0.9.1's engine and losses, on two ranks that are connected with gloo, with
three micro-batches each and rows of unequal length. The hook records the ranks, and \`echelon verify\` joins their files and counts the
denominators from their masks; without the file of one rank, denominators and gradients are unverifiable. No bug ends with exit status 0: it
is 1 if something is wrong, and 3 for a finding alone, whichever stages are verified. Bugs of rows and masks are planted between the driver
and the loss of verl, and between generation and loss of TRL.
Without a bug, the same settings give nothing wrong and no finding, on two and four ranks, in float32 and bfloat16. vLLM is replaced by the
trainer's own model with a little noise. Tests: \`deploy/capture/tests/test_planted_trl_full.py\` and \`test_planted_verl_full.py\`, which compare
with \`test/golden/steps/planted-hooks.json\`; \`ECHELON_RECORD=1\` renews it.

${hookTable(hooks)}

${missesOfHooks(hooks)}

### From the trainer's files

The simulated steps with only the columns and values that the step files of ${Object.keys(FILES).join(', ')} hold, as their readers give them.
None holds a gradient coefficient, so that a bug of the gradient shows only in a reported loss (prime-rl) or denominator (slime).
prime-rl's mean loss may be over more micro-batches than are exported, so that a loss that is too small by a whole number is possible.

${missesOfFiles()}

## Detection power by precision

The smallest error of a denominator that is found in simulated steps of 15 rows. In float32 single tokens show it. In bfloat16 a token
may be off by several percent; the sums over the tokens of a micro-batch, a rank and the step show less, down to what roundings that
all of them share can give. The bound of a sum is derived in \`packages/echelon-verify/src/step/stages/shared-factor.ts\`.

${powerTable()}

## Not found

| bug | why |
| --- | --- |
${MISSED.map(({ source, why }) => `| ${source} | ${why} |`).join('\n')}

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

type Hooks = ReturnType<typeof hookRecords>;
const NAMES = Object.keys(HOOKS) as HookName[];

/** What found the bug in each trainer into which it is planted. */
function throughHooks(source: string, hooks: Hooks): string {
  const texts = NAMES.flatMap((name) => {
    const outcome = hooks[name].planted[source];
    if (outcome === undefined) return [];
    return [`${HOOKS[name]}: ${outcome.found.map(short).join(', ') || 'not verified'}`];
  });
  return texts.join('; ') || '–';
}

function fromFiles(planted: Planted): string {
  const found = inFiles(planted).map(([format, report]) => ({
    format,
    text: foundBy(report).map(short).join(', '),
  }));
  const some = found.filter(({ text }) => text !== '');
  if (some.length === 0) return '–';
  const isSame = some.length === found.length && new Set(some.map(({ text }) => text)).size === 1;
  return isSame ? `all: ${some[0]!.text}` : some.map(({ format, text }) => `${format}: ${text}`).join('; ');
}

const short = (found: string): string => found.replace(/^(stage|finding|value) /, '');

function hookTable(hooks: Hooks): string {
  const rows = NAMES.map((name) => {
    const all = Object.values(hooks[name].planted);
    const wrong = all.filter(({ status }) => status === 1).length;
    const findings = all.filter(({ status, found }) => status === 3 && found.length > 0).length;
    const named = all.filter(({ cause }) => cause !== undefined).length;
    const rest = all.length - wrong - findings;
    return `| ${HOOKS[name]} | ${all.length} | ${wrong} | ${findings} | ${rest} | 0 | ${named} |`;
  });
  return `| trainer | planted | status 1 | status 3 with a finding | status 3, not verified | status 0 | cause named |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}`;
}

function missesOfHooks(hooks: Hooks): string {
  const rows = NAMES.flatMap((name) => {
    const { planted, notPlanted } = hooks[name];
    const byReason = new Map<string, string[]>();
    const add = (reason: string, source: string) =>
      byReason.set(reason, [...(byReason.get(reason) ?? []), source]);
    for (const [source, { found, missing = [] }] of Object.entries(planted))
      if (found.length === 0) add(`Planted, and not found: not verified are ${missing.join(', ')}.`, source);
    for (const [source, why] of Object.entries(notPlanted)) add(`Not planted. ${why}`, source);
    return [...byReason].map(([reason, sources]) => `| ${HOOKS[name]} | ${sources.join('; ')} | ${reason} |`);
  });
  return `| trainer | bugs | why the hook does not show them |\n| --- | --- | --- |\n${rows.join('\n')}`;
}

/** Bugs that no file shows, by the stage or value that shows them in complete data. */
function missesOfFiles(): string {
  const byReason = new Map<string, string[]>();
  for (const planted of PLANTED) {
    if (inFiles(planted).some(([, report]) => foundBy(report).length > 0)) continue;
    const { found } = planted;
    const reason =
      'stage' in found
        ? WITHOUT[found.stage as keyof typeof WITHOUT]
        : 'value' in found
          ? 'no file holds the value that is reported wrongly'
          : 'no file holds policy versions as its reader knows them';
    byReason.set(reason, [...(byReason.get(reason) ?? []), planted.source]);
  }
  const rows = [...byReason].map(([reason, sources]) => `| ${reason} | ${sources.join('; ')} |`);
  return `| why no file shows it | bugs |\n| --- | --- |\n${rows.join('\n')}`;
}

const WITHOUT = {
  gradient:
    'no file holds gradient coefficients, and neither a loss nor a denominator of a file tells the bug',
  denominator: 'no file holds such denominators',
  tokens: 'no file holds the sampled ids beside the trained ones',
  once: 'no file holds the place of a token in its trajectory; slime’s layout shows a sample that is placed twice',
  mask: 'no file holds which tokens the policy sampled',
  versions: 'no file holds policy versions as its reader knows them',
} as const;

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
