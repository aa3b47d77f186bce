import type { Failure } from './lane-reporter.ts';
import type { Outcome } from './lanes.ts';

const LINES_OF_OUTPUT = 80;

/** What is shown of a failed item: each failure with its reason, the end of its output, the command that repeats it. */
export function failureText({ item, failures, output, after }: Outcome): string {
  const printed = output.trimEnd().split('\n');
  const shown = printed.slice(-LINES_OF_OUTPUT).filter((line) => line !== '');
  return [
    ...failures.flatMap(linesOf),
    ...(shown.length > 0 ? ['  it printed last:', ...shown.map((line) => `    ${line}`)] : []),
    ...(after.length > 0 ? [`  its process had run before: ${after.slice(0, 3).join(', ')}`] : []),
    `  repeat: npm test -- ${item.name}`,
  ].join('\n');
}

const linesOf = ({ title, reason }: Failure): string[] => [
  `FAILED ${title}`,
  ...reason.map((line) => `    ${line}`),
];

/** The groups of skipped tests, each with its reason and number, the largest first. */
export function skippedLines(outcomes: readonly Outcome[]): string[] {
  const groups = Map.groupBy(
    outcomes.flatMap(({ skipped }) => skipped),
    (reason) => reason,
  );
  return [...groups]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([reason, { length }]) => `skipped ${length}: ${reason}`);
}

/** The last line of a run; other tools read it. */
export function totalLine(outcomes: readonly Outcome[]): string {
  const sum = (count: (outcome: Outcome) => number): number =>
    outcomes.reduce((total, one) => total + count(one), 0);
  const passed = sum((one) => one.passed);
  const failed = sum((one) => one.failures.length);
  return `${passed} passed, ${failed} failed, ${sum((one) => one.skipped.length)} skipped`;
}
