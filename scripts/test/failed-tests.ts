import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** Ends that follow from another test's: of what holds one that failed, and of what is held. */
const CONSEQUENCES: readonly unknown[] = ['subtestsFailed', 'cancelledByParent'];

/** Enough for an assertion's difference, and so few that the failures of a run fit a screen. */
const LINES_OF_A_FAILURE = 16;

/** A reporter for `node --test`: of each test that failed by itself its place and name, and, indented, why. */
// biome-ignore lint/style/noDefaultExport: Node takes a reporter from there
export default async function* failedTests(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of source) {
    if (type !== 'test:fail' || data.todo) continue;
    const { error } = data.details;
    if ('failureType' in error && CONSEQUENCES.includes(error.failureType)) continue;
    const place = data.file === undefined ? '' : `${relative('.', data.file)}:${data.line} `;
    yield `${[`${place}${data.name}`, ...shortened(reasonOf(error))].join('\n')}\n`;
  }
}

/** At most {@link LINES_OF_A_FAILURE} of `lines` that say something, indented. */
export function shortened(lines: readonly string[]): string[] {
  const full = lines.filter((line) => line.trim() !== '').map((line) => `    ${line}`);
  if (full.length <= LINES_OF_A_FAILURE) return full;
  const shown = full.slice(0, LINES_OF_A_FAILURE - 1);
  return [...shown, `    … and ${full.length - shown.length} lines more above`];
}

/** The messages of `error` and of what caused it, each with the line of the test at which it arose, or another of ours. */
function reasonOf(error: unknown): string[] {
  if (!(error instanceof Error)) return String(error).split('\n');
  const parts: unknown[] = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  const causes = [...parts, ...(error.cause instanceof Error ? [error.cause] : [])].flatMap(reasonOf);
  if ('exitCode' in error && 'signal' in error)
    return [`its process ended with ${error.signal ?? error.exitCode}`, ...causes];
  const wrapsAnother = 'failureType' in error && causes.length > 0;
  return wrapsAnother ? causes : [...placeOf(error), ...error.message.split('\n'), ...causes];
}

function placeOf({ stack = '' }: Error): string[] {
  const here = `${process.cwd()}/`;
  const frames = stack.split('\n').filter((line) => line.includes(here) && !line.includes('/node_modules/'));
  const frame = frames.find((line) => line.includes('.test.ts:')) ?? frames[0];
  const place = frame?.slice(frame.indexOf(here) + here.length).replace(/:\d+\)?$/, '');
  return place === undefined ? [] : [`at ${place}`];
}
