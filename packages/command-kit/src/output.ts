import { EXIT, type FieldProblem } from './exit.ts';
import { inertJson } from './inert.ts';
import { createLiveBlock, type LiveBlock } from './live-block.ts';
import { wrapped } from './width.ts';

/** Where a command writes. */
export interface Output {
  /** Writes a line to standard output. */
  line(text?: string): void;
  /**
   * Writes a text to standard error, after everything that was written before: progress and notes beside the answer. A
   * terminal gets it broken between words.
   */
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
    const { columns } = process.stderr;
    const write = () => process.stderr.write(`${wrapped(text, columns)}\n`);
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
