import type { FieldProblem } from '../core/errors.ts';
import { inertJson } from '../core/inert.ts';
import type { Experiment } from '../schemas/experiment.ts';
import { EXIT } from './exit.ts';
import { createLiveBlock, type LiveBlock } from './live-block.ts';

// An import of `node:util` would load all its parts, which takes longer than the rest of this module.
const { styleText } = process.getBuiltinModule('node:util');

export { inert } from '../core/inert.ts';

/** Where a command writes. */
export interface Output {
  /** Writes a line to standard output. */
  line(text?: string): void;
  /** Writes a line to standard error, after everything that was written before: progress and notes beside the answer. */
  remark(text: string): void;
  /** Columns of the terminal on standard output; undefined if it is not a terminal. */
  readonly columns?: number | undefined;
  /** A block of the terminal that is overwritten; undefined if there is no terminal. */
  block?(): LiveBlock | undefined;
}

/** Standard output and standard error. */
export const terminal: Output = {
  line: (text = '') => process.stdout.write(`${text}\n`),
  get columns() {
    return process.stdout.columns;
  },
  block: () => (process.stdout.isTTY ? createLiveBlock(process.stdout) : undefined),
  remark(text) {
    const write = () => process.stderr.write(`${text}\n`);
    // A slow reader has not received the whole answer yet; a remark on it must not overtake it.
    if (process.stdout.writableLength === 0) write();
    else process.stdout.write('', write);
  },
};

/** One JSON document, for scripts. */
export function json(value: unknown): string {
  return inertJson(JSON.stringify(value, null, 2));
}

/** One JSON document in one line. */
export function jsonLine(value: unknown): string {
  return inertJson(JSON.stringify(value));
}

/** Codes of errors that did not come from the API, by exit status. */
const CODES: Readonly<Record<number, string>> = {
  [EXIT.notOk]: 'not-ok',
  [EXIT.usage]: 'usage',
  [EXIT.unreachable]: 'unreachable',
  [EXIT.refused]: 'refused',
};

/** An error as one line of JSON, for commands with `--json`. */
export function errorLine(
  message: string,
  how: { status: number; code?: string | undefined; problems?: readonly FieldProblem[] },
): string {
  const { status: exitStatus, code = CODES[exitStatus], problems = [] } = how;
  return jsonLine({ error: { code, message, problems, exitStatus } });
}

const STATE_COLORS: Readonly<Record<string, 'green' | 'red' | 'yellow' | 'cyan'>> = {
  succeeded: 'green',
  failed: 'red',
  cancelled: 'yellow',
  running: 'cyan',
};

/** A state in its colour if standard output is a terminal with colours and NO_COLOR is not set. */
export function coloredState(state: string): string {
  const color = STATE_COLORS[state];
  return color === undefined ? state : styleText(color, state);
}

/** A duration in its largest fitting unit: "45 s", "12 min", "3.4 h", "90 d". */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  // Number() removes the decimal of a whole number.
  if (seconds < 172_800) return `${Number((seconds / 3600).toFixed(1))} h`;
  return `${Number((seconds / 86_400).toFixed(1))} d`;
}

/**
 * The success rate in per cent: on held-out games for a succeeded experiment, else of the last rollouts, because the last
 * evaluation may be many steps old.
 */
export function successRate({ state, progress }: Pick<Experiment, 'state' | 'progress'>): string {
  const names = ['episode/success_rate', 'val/success_rate'];
  const [first, second] = state === 'succeeded' ? names.toReversed() : names;
  const rate = progress.metrics[first!] ?? progress.metrics[second!];
  return typeof rate === 'number' ? `${(rate * 100).toFixed(0)} %` : '-';
}
