// Writes the table of known forms into docs/reference/fingerprints.md.
import { writeFileSync } from 'node:fs';
import { estimatorOf } from 'echelon-verify/kernel';
import {
  COMMITS,
  formFingerprint,
  KNOWN_FORMS,
  type KnownForm,
} from '../../packages/echelon-verify/src/identify/fingerprints.ts';
import { estimatorOfForm } from '../../packages/echelon-verify/src/identify/identify.ts';
import { PROBES, probeValues, shortValue } from '../../packages/echelon-verify/src/identify/probes.ts';
import { LOSSES } from '../../packages/echelon-verify/src/step/losses/registry.ts';
import { AGGREGATIONS } from '../../packages/echelon-verify/src/step/model/aggregations.ts';

const SHOWN = ['rewards 1, 0, 0, 0', 'a group of one row with reward 0.7', 'rewards 0.5 and 0.5002'];

function row(form: KnownForm): string {
  const [repository, commit] = COMMITS[form.trainer]!;
  const [file, line] = form.source.split(':');
  const isCommit = /^[0-9a-f]{7,}$/.test(commit);
  const link = isCommit
    ? `https://github.com/${repository}/blob/${commit}/${file}#L${line}`
    : `https://github.com/${repository}`;
  const cells = [
    `\`${form.id}\``,
    form.setting,
    `\`${formFingerprint(form)}\``,
    ...SHOWN.map((name) => firstValue(form, name)),
    `[${form.source.split('/').at(-1)}](${link})`,
  ];
  return `| ${cells.join(' | ')} |`;
}

function firstValue(form: KnownForm, name: string): string {
  const value = probeValues(PROBES.find((probe) => probe.name === name)!, estimatorOfForm(form))?.[0];
  return value === undefined ? '–' : shortValue(value);
}

const estimators = [...new Set(KNOWN_FORMS.map(({ estimator }) => estimator))].map(estimatorOf);

/** A cell of a table. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

const lossRows = LOSSES.map(({ name, formula, parameters, source }) => {
  const stated = Object.entries(parameters).map(([key, { fallback }]) => `\`${key}\` ${fallback ?? 'off'}`);
  return `| \`${name}\` | ${cell(formula)} | ${stated.join(', ') || '–'} | ${cell(source)} |`;
});
const denominatorRows = AGGREGATIONS.map(
  ({ mode, divisor, source }) => `| \`${mode}\` | ${cell(divisor)} | ${cell(source)} |`,
);

writeFileSync(
  'docs/reference/fingerprints.md',
  `# Fingerprints

Trainers compute different advantages under one name. Each line is one setting of one trainer, with the fingerprint of its
arithmetic, the source, and the advantage of the first row for three groups of rewards.

- **1, 0, 0, 0**: one success among four responses.
- **one row**: a group of one response with reward 0.7.
- **near**: rewards 0.5 and 0.5002, which show ε.

Every token of a response counts once, and a response has one token here, with a value of 0.5 for estimators that use values. \`–\`: the form cannot be computed from these rewards.

The fingerprint of a batch ends with \`rows=padded\`, \`rows=balanced\` or \`rows=padded-balanced\` if its trainer added copies of rows,
or put them in another order, before it computed the advantages. verl-agent's own trainer does both, the trainers of its recipes
compute first.

\`echelon identify --known ID\` prints one line with its values for more rewards. \`echelon identify FILE\` names the lines that
explain the advantages of a file. The advantage functions of TRL, ms-swift, verl, NeMo-RL, slime, OpenRLHF, prime-rl, SkyRL,
ROLL, AReaL and rLLM ran on the CPU, and their values are the golden data of the tests (\`scripts/golden/estimators.py\`).

| id | setting | fingerprint | 1, 0, 0, 0 | one row | near | source |
| --- | --- | --- | --- | --- | --- | --- |
${KNOWN_FORMS.map(row).join('\n')}

## Formulas

${estimators.map(({ name, formula }) => `- \`${name}\`: ${formula}.`).join('\n')}

[Estimators](estimators.md) lists the parameters of each.

## Losses of the training step

One name has several arithmetics here too. \`policyLoss\` of [a step](batch-format.md) states one of these losses with its parameters; A is the
advantage, r the importance ratio. [What is verified of a training step](../explanation/verify-the-step.md) says how.

| name | loss of a token | parameters and defaults | where |
| --- | --- | --- | --- |
${lossRows.join('\n')}

## Denominators of the training step

\`aggregation\` states a mode, and its \`scope\`: all ranks and micro-batches (\`global\`), a \`rank\`, or a \`micro-batch\`.

| mode | divisor of a token | where |
| --- | --- | --- |
${denominatorRows.join('\n')}
`,
);
