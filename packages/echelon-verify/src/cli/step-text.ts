/** Reports of optimizer steps as text. */

import { styleText } from 'node:util';
import { EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { significant } from 'command-kit/number';
import { nounOf, plural } from 'command-kit/plural';
import { shellWord } from 'command-kit/shell-word';
import { table } from 'command-kit/table';
import { groupedBy } from '../base/grouped-by.ts';
import type { StepFindingCode } from '../report/step-findings.ts';
import type {
  Coverage,
  StageName,
  StepFileReport,
  StepReport,
  ValueReport,
} from '../step/model/step-report.ts';
import { STAGES } from '../step/model/step-report.ts';
import { commonCoverage } from '../step/stages/coverage.ts';
import type { PooledSteps } from '../verify/pooled-steps.ts';
import { findingLine } from './finding-line.ts';

/** Warnings that are no sign of an error: a stated constant, such as the loss scale of mixed precision. */
const HARMLESS: readonly string[] = ['gradient-scaled'] satisfies StepFindingCode[];

/** The exit status for steps alone: 0 needs every stage that the loss has, or those that are required, and no warning. */
export function stepsExit(steps: readonly StepReport[], required?: readonly StageName[]): number {
  if (steps.some(({ consistent }) => !consistent)) return EXIT.notOk;
  if (steps.some(({ findings }) => findings.some(({ code }) => !HARMLESS.includes(code))))
    return EXIT.unproven;
  const isCovered = ({ coverage }: StepReport): boolean =>
    coverage.missing.every(({ stage }) => required !== undefined && !required.includes(stage));
  return steps.every(isCovered) ? EXIT.ok : EXIT.unproven;
}

/** All steps as text, ending in a newline. */
export function describeSteps(
  steps: readonly StepFileReport[],
  program: string,
  { width, required }: { width?: number | undefined; required?: readonly StageName[] | undefined } = {},
): string {
  const wrong = steps.find(({ wrongTokens }) => wrongTokens.length > 0);
  const first = wrong?.wrongTokens[0];
  const explain =
    wrong && first
      ? [
          'Explain a wrong token with:',
          `  ${inert(`${program} explain ${shellWord(wrong.file)} --batch ${shellWord(wrong.name)} --row ${first.row} --position ${first.token}`)}`,
          'Name the arithmetic that was used with:',
          `  ${inert(`${program} identify ${shellWord(wrong.file)}`)}`,
          '',
        ]
      : [];
  const lines = [
    ...steps.flatMap((step) => stepLines(step, width)),
    ...explain,
    inert(coverageText(commonCoverage(steps.map(({ coverage }) => coverage)), required)),
    summary(steps, required),
  ];
  return `${lines.join('\n')}\n`;
}

/** The steps in dumps that are read for their advantages. */
export interface StepsBesides {
  readonly reports: StepFileReport[];
  /** Files that are too large to be read as steps as well, with the option that reads them. */
  readonly unread: string[];
}

/** In full if something was found, and in one line what was verified and what it needs to verify more. */
export function describeBesides({ reports, unread }: StepsBesides, program: string, width?: number): string {
  const found = reports.filter(({ consistent, findings }) => !consistent || findings.length > 0);
  const stages = reports.flatMap((report) => report.stages);
  const verified = new Set(
    stages.filter(({ exact, rounding, wrong }) => exact + rounding + wrong > 0).map(({ stage }) => stage),
  );
  const lacks = new Set(stages.flatMap((stage) => stage.lacks));
  const coverage = [
    `also read as ${plural(reports.length, 'optimizer step')}: ${[...verified].join(', ') || 'no stage'} verified`,
    ...(lacks.size === 0 ? [] : [`more needs ${[...lacks].join(', ')}`]),
  ];
  const lines = [
    ...(reports.length === 0 ? [] : [coverage.join('; ')]),
    ...unread.map((file) => `not read as optimizer steps as well, since it is large: ${file}`),
  ];
  const details = found.length === 0 ? '' : describeSteps(found, program, { width });
  return details + lines.map((line) => `${inert(line)}\n`).join('');
}

/** One step: a head, a table of its stages, and what is wrong. */
export function stepLines(
  step: StepReport & Pick<StepFileReport, 'causes'>,
  width?: number | undefined,
): string[] {
  const { name, trained, rows, arithmetic, precision, precisionInferred, stages, findings } = step;
  const { causes = [] } = step;
  const rowsOfTable = stages.map((stage) => [
    stage.stage,
    stage.exact,
    stage.rounding,
    stage.wrong === 0 ? '0' : styleText('red', String(stage.wrong)),
    stage.unverifiable,
    stage.lacks.length > 0
      ? inert(`needs ${stage.lacks.join(', ')}`)
      : `${stage.of}: ${stage.detail ?? STAGES[stage.stage]}`,
  ]);
  const head = ['stage', 'exact', 'rounding', 'wrong', 'unverifiable', ''];
  return [
    styleText(
      'bold',
      inert(`${name}: ${plural(trained, 'trained token')} in ${plural(rows, 'row')}, ${resultOf(step)}`),
    ),
    inert(`  ${arithmetic}; ${precision}${precisionInferred ? ' (inferred from the log-probs)' : ''}`),
    '',
    table(head, rowsOfTable, width),
    ...valueLines(step.values),
    ...findings.map(findingLine),
    ...causes.map((cause) => inert(`  likely cause: ${cause}`)),
    '',
  ];
}

/** Values that are listed of each outcome. */
const MAX_VALUES = 3;

/** The first values of each outcome that is not exact, and how many there are more. */
function valueLines(values: readonly ValueReport[]): string[] {
  const others = groupedBy(
    values.filter(({ outcome }) => outcome !== 'exact'),
    ({ outcome }) => outcome,
  );
  return [...others].flatMap(([outcome, own]) => {
    const rest = own.length - MAX_VALUES;
    const more =
      rest > 0 ? [`  … and ${plural(rest, 'value')} more that ${nounOf(rest, 'is', 'are')} ${outcome}`] : [];
    return [...own.slice(0, MAX_VALUES).map(valueLine), ...more];
  });
}

function valueLine({ name, reported, expected, error, outcome, reduction, lacks }: ValueReport): string {
  if (lacks.length > 0) return inert(`  ${name}: ${reported} is unverifiable, it needs ${lacks.join(', ')}`);
  const how = reduction === null ? '' : ` as ${reduction}`;
  const factor = Number.isFinite(reported / expected) ? `, ${significant(reported / expected, 6)} times` : '';
  return inert(
    `  ${name}: ${reported} is ${outcome}${factor}, expected ${significant(expected, 7)} ± ${significant(error, 7)}${how}`,
  );
}

/** What the steps of a dump show together. */
export function describeTogether(all: readonly PooledSteps[]): string {
  const lines = all.flatMap(({ of, findings }) => [inert(of), ...findings.map(findingLine)]);
  return lines.map((line) => `${line}\n`).join('');
}

/** The result of a step in a few words. */
export function resultOf({ ok, consistent }: Pick<StepReport, 'ok' | 'consistent'>): string {
  if (ok) return 'ok';
  return consistent ? 'gradient not verified' : 'NOT OK';
}

/** How many stages are verified, what the others need, and which of them the exit status needs. */
export function coverageText({ verified, missing }: Coverage, required?: readonly StageName[]): string {
  const all = verified.length + missing.length;
  const not = missing.map(({ stage, lacks }) => `${stage} (needs ${lacks.join(', ')})`);
  const parts = [
    `${verified.length} of ${plural(all, 'stage')} verified`,
    ...(not.length === 0 ? [] : [`not: ${not.join('; ')}`]),
    ...(required === undefined ? [] : [`required: ${required.join(', ')}`]),
  ];
  return parts.join('; ');
}

function summary(steps: readonly StepReport[], required?: readonly StageName[]): string {
  const ok = steps.filter((step) => step.ok).length;
  const text = `${ok} of ${plural(steps.length, 'step')} ok`;
  const status = stepsExit(steps, required);
  return styleText(status === EXIT.ok ? 'green' : status === EXIT.notOk ? 'red' : 'yellow', text);
}
