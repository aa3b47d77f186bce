// Writes the registry of estimators into what cannot import it: docs/reference/estimators.md and estimator_table.py.
import { writeFileSync } from 'node:fs';
import type { Estimator } from 'echelon-verify/kernel';
import {
  type AnyParameters,
  completeParameters,
  estimatorNames,
  estimatorOf,
  type ParameterRule,
} from 'echelon-verify/kernel';
import { allowedInWords } from '../../packages/echelon-verify/src/kernel/estimators/parameters.ts';
import { pythonValue, snake } from '../sources/python-text.ts';

const TABLE_PY = 'deploy/capture/echelon_capture/format/estimator_table.py';

const estimators = estimatorNames().map(estimatorOf);

function main(): void {
  writeFileSync('docs/reference/estimators.md', reference());
  writeFileSync(TABLE_PY, pythonRegistry());
}

function reference(): string {
  return `# Estimators

Every estimator that Echelon can evaluate, verify and explain. A batch names its estimator and states parameters in \`params\`
of the file, or in \`parameters\` on the wire. An omitted parameter has its default. This page is made from the estimators
themselves (\`packages/echelon-verify/src/kernel/estimators/\`); [How to add an estimator](../contributing/add-an-estimator.md) says how one is written.

${estimators.map(section).join('\n')}
${NOT_BUILT}`;
}

/** Published methods that no estimator computes. Marks: [code] read in code, [2nd] second hand. */
const NOT_BUILT = `## Not built

| method | why |
| --- | --- |
| RewardFlow (2603.18859) | step rewards come from values in a graph that each environment cleans in its own way [code] |
| GAGPO (2605.13217) | no code is public; γ, λ, deviation and ε are not known [2nd] |
| EMPG (2509.09265) | only pseudocode and a summary could be read [2nd]; batches hold no token entropies |
| Dr. MAS (2602.08847) | no estimator of its own. \`group_by_agent_id=True\` is \`grpo\` or \`gigpo\` with a \`group\` of task and agent; False is \`statistics: trajectory-mean\` of \`grpo\`, \`first-row\` of \`gigpo\` [code] |
`;

function section(estimator: Estimator): string {
  const { name, title, formula, source, edgeCases, parameters } = estimator;
  const usual = completeParameters(parameters) as AnyParameters;
  const plan = estimator.rowPlan(usual);
  return `## ${name}

${title}. ${formula}.

${edgeCases}

- Defaults: ${source}.
- Fingerprint of the defaults: \`${name}(${estimator.fingerprint(usual).join(',')})\`.
- Columns: ${columnsInWords(estimator)}.
- Error bounds: ${'unbounded' in plan ? `none for ${plan.unbounded}` : 'yes, with the defaults'}.

| parameter | values | default | meaning |
| --- | --- | --- | --- |
${Object.entries(parameters).map(row).join('\n')}
`;
}

function row([key, rule]: [string, ParameterRule]): string {
  const same = rule.kind === 'number' && rule.sameAs !== undefined ? `as \`${rule.sameAs}\`` : undefined;
  const usual = rule.mustBeStated ? 'must be stated' : (same ?? String(rule.default));
  const also = rule.alias === undefined ? '' : ` A file may call it \`${rule.alias}\`.`;
  return `| \`${key}\` | ${allowedInWords(rule)} | ${usual} | ${rule.doc}${also} |`;
}

const COLUMNS = {
  observation: '`observation`',
  nextObservation: '`nextObservation`',
  stepReturn: 'step returns (or rewards)',
  reward: '`reward`',
  actionValid: '`actionValid`',
  score: '`tokenLevelRewardSum`',
  responseLength: '`responseLength`',
  rewards: '`rewards`',
  rewardBaseline: '`rewardBaseline`',
  tokens: '`tokens`',
};

function columnsInWords(estimator: Estimator): string {
  const own = columnsOf(estimator, {});
  const more = flagsOf(estimator).flatMap((flag) =>
    columnsOf(estimator, { [flag]: true })
      .filter((column) => !own.includes(column))
      .map((column) => `with \`${flag}\` also ${COLUMNS[column]}`),
  );
  const tokens = estimator.uses(completeParameters(estimator.parameters) as AnyParameters).tokens ?? [];
  const ofTokens =
    tokens.length === 0 ? '' : ` with ${['mask', ...tokens].map((one) => `\`${one}\``).join(', ')}`;
  return [...own.map((column) => COLUMNS[column]), ...more].join(', ') + ofTokens;
}

type Column = keyof typeof COLUMNS;

function columnsOf(estimator: Estimator, changes: AnyParameters): Column[] {
  const usual = completeParameters(estimator.parameters) as AnyParameters;
  const { environment = [], ...others } = estimator.uses({ ...usual, ...changes });
  const named = Object.fromEntries(environment.map((column) => [column, true]));
  const uses: Partial<Record<string, unknown>> = { ...others, ...named };
  return (Object.keys(COLUMNS) as Column[]).filter((column) => uses[column]);
}

function flagsOf({ parameters }: Estimator): string[] {
  return Object.keys(parameters).filter((key) => parameters[key]!.kind === 'flag');
}

/** The estimators as Python sees them; parameters are in snake case there. */
function pythonRegistry(): string {
  return `"""The parameters and columns of every estimator. Generated from packages/echelon-verify/src/kernel/estimators by \`npm run generate\`."""

from .rules import RETURNS, REWARDS, SCORES, Estimator, Parameter

ESTIMATORS = {
${estimators.map(pythonEstimator).join('')}}
`;
}

const PYTHON_COLUMNS = {
  observation: '("observation",)',
  nextObservation: '("next_observation",)',
  stepReturn: 'RETURNS',
  reward: '("reward",)',
  actionValid: '("action_valid",)',
  score: 'SCORES',
  rewards: 'REWARDS',
  rewardBaseline: '("reward_baseline",)',
  tokens: '("tokens",)',
};

/** Columns that Python demands. Lengths are needed by some parameters only: without them rows are unverifiable. */
function pythonColumns(estimator: Estimator, changes: AnyParameters): (keyof typeof PYTHON_COLUMNS)[] {
  return columnsOf(estimator, changes).filter(
    (column) => column in PYTHON_COLUMNS,
  ) as (keyof typeof PYTHON_COLUMNS)[];
}

function pythonEstimator(estimator: Estimator): string {
  const own = pythonColumns(estimator, {});
  const parameters = Object.entries(estimator.parameters).map(
    ([key, rule]) => `            ${JSON.stringify(snake(key))}: ${pythonParameter(rule)},\n`,
  );
  const more = flagsOf(estimator).flatMap((flag) =>
    pythonColumns(estimator, { [flag]: true })
      .filter((column) => !own.includes(column))
      .map((column) => `${JSON.stringify(snake(flag))}: ${PYTHON_COLUMNS[column]}`),
  );
  return `    ${JSON.stringify(estimator.name)}: Estimator(
        parameters={
${parameters.join('')}        },
        columns=(${own.map((column) => PYTHON_COLUMNS[column]).join(', ')}${own.length === 1 ? ',' : ''}),
        columns_with={${more.join(', ')}},
    ),
`;
}

function pythonParameter(rule: ParameterRule): string {
  const usual = rule.mustBeStated ? 'None' : pythonValue(rule.default);
  const kind = rule.kind === 'choice' ? typeof rule.default : rule.kind;
  const type = { number: 'float', flag: 'bool', string: 'str' }[kind as 'number' | 'flag' | 'string'];
  const source = rule.alias ?? (rule.kind === 'number' ? rule.sameAs : undefined);
  return `Parameter(${type}, ${usual}${source === undefined ? '' : `, ${JSON.stringify(snake(source))}`})`;
}

main();
