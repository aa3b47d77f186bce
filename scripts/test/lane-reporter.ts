import { relative } from 'node:path';
import { Transform } from 'node:stream';
import type { TestEvent } from 'node:test/reporters';

/** A test begins. */
export interface Begun {
  readonly type: 'begun';
  readonly name: string;
}

/** A test ended, or (`isFile`) a whole file. */
export interface Ended {
  readonly type: 'ended';
  readonly isFile: boolean;
  readonly skipped?: string;
  readonly failed?: Failure;
}

/** A test that failed: its place and name, and why. */
export interface Failure {
  readonly title: string;
  readonly reason: readonly string[];
}

/** Ends that follow from another test's: of the parents of a failed test, and of tests that a parent cancelled. */
const CONSEQUENCES: readonly unknown[] = ['subtestsFailed', 'cancelledByParent'];

/** Enough for an assertion's difference, and so few that the failures of a run fit a screen. */
const LINES_OF_A_FAILURE = 16;

/** A reporter for a lane: sends {@link Begun} and {@link Ended} to the runner, and prints nothing. */
const laneReporter = new Transform({
  writableObjectMode: true,
  transform(event: TestEvent, _encoding, done) {
    const message = messageOf(event);
    if (message !== undefined) process.send?.(message);
    done();
  },
});

// biome-ignore lint/style/noDefaultExport: Node takes a reporter from there
export default laneReporter;

function messageOf({ type, data }: TestEvent): Begun | Ended | undefined {
  if (type === 'test:dequeue') return { type: 'begun', name: data.name };
  if (type !== 'test:pass' && type !== 'test:fail') return undefined;
  const isFile = data.nesting === 0;
  const isSuite = data.details.type === 'suite';
  if (type === 'test:pass') {
    if (isSuite && !isFile) return undefined;
    return { type: 'ended', isFile, ...(data.skip !== undefined && { skipped: String(data.skip) }) };
  }
  const failed = failureOf(data);
  if (failed === undefined && isSuite && !isFile) return undefined;
  return { type: 'ended', isFile, ...(failed && { failed }) };
}

/** Undefined for a failure that follows from another one. */
function failureOf(data: Extract<TestEvent, { type: 'test:fail' }>['data']): Failure | undefined {
  const { error } = data.details;
  if (data.todo || ('failureType' in error && CONSEQUENCES.includes(error.failureType))) return undefined;
  const place =
    data.nesting === 0 || data.file === undefined ? '' : `${relative('.', data.file)}:${data.line} `;
  return { title: `${place}${data.name}`, reason: shortened(reasonOf(error)) };
}

/** At most {@link LINES_OF_A_FAILURE} of `lines` that say something. */
export function shortened(lines: readonly string[]): string[] {
  const full = lines.filter((line) => line.trim() !== '');
  if (full.length <= LINES_OF_A_FAILURE) return full;
  const shown = full.slice(0, LINES_OF_A_FAILURE - 1);
  return [...shown, `… and ${full.length - shown.length} lines more above`];
}

/** The messages of `error` and of what caused it, each with the line of the test at which it arose, or another of ours. */
function reasonOf(error: unknown): string[] {
  if (!(error instanceof Error)) return String(error).split('\n');
  const parts: unknown[] = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  const causes = [...parts, ...(error.cause instanceof Error ? [error.cause] : [])].flatMap(reasonOf);
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
