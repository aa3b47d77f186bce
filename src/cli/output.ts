import Table from 'cli-table3';
import pc from 'picocolors';
import type { FieldProblem } from '../core/errors.ts';
import type { Experiment } from '../schemas/experiment.ts';
import { EXIT } from './exit.ts';
import { createLiveBlock, type LiveBlock } from './live-block.ts';

/** Where a command writes. */
export interface Output {
  /** Writes a line to standard output. */
  line(text?: string): void;
  /** Writes a line to standard error, behind what was written before: progress and remarks that are not the answer. */
  remark(text: string): void;
  /** Columns of the terminal behind standard output; undefined: it is none. */
  readonly columns?: number | undefined;
  /** A part of the terminal that is written over; undefined: there is no terminal. */
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
    // Whoever reads slowly has not got all of the answer yet; a remark on it would overtake it.
    if (process.stdout.writableLength === 0) write();
    else process.stdout.write('', write);
  },
};

/** One JSON document, for scripts. */
export function json(value: unknown): string {
  return withoutControls(JSON.stringify(value, null, 2));
}

/** One JSON document in one line. */
export function jsonLine(value: unknown): string {
  return withoutControls(JSON.stringify(value));
}

/** Codes of errors that no API gave, by exit status. */
const CODES: Readonly<Record<number, string>> = {
  [EXIT.notOk]: 'not-ok',
  [EXIT.usage]: 'usage',
  [EXIT.unreachable]: 'unreachable',
  [EXIT.refused]: 'refused',
};

/** An error as one line of JSON, for whoever asked for JSON. */
export function errorLine(
  message: string,
  how: { status: number; code?: string | undefined; problems?: readonly FieldProblem[] },
): string {
  const { status: exitStatus, code = CODES[exitStatus], problems = [] } = how;
  return jsonLine({ error: { code, message, problems, exitStatus } });
}

/** JSON that means the same and can be read on a terminal: what the terminal would obey or hide is escaped. */
function withoutControls(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // The line feeds are those between two values: inside a text they are escaped already.
  return text.replace(NOT_INERT, (char) => (char === '\n' ? char : char.split('').map(escaped).join('')));
}

/** A table that people can read: a head, rows, no lines between them. */
export function table(head: string[], rows: (string | number)[][]): string {
  const empty = Object.fromEntries(
    [
      'top',
      'top-mid',
      'top-left',
      'top-right',
      'bottom',
      'bottom-mid',
      'bottom-left',
      'bottom-right',
      'left',
      'left-mid',
      'mid',
      'mid-mid',
      'right',
      'right-mid',
    ].map((part) => [part, '']),
  );
  const chars = { ...empty, middle: '  ' };
  const made = new Table({
    head: head.map((title) => pc.bold(title)),
    chars,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  made.push(...rows);
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

const STATE_COLORS: Record<string, (text: string) => string> = {
  succeeded: pc.green,
  failed: pc.red,
  cancelled: pc.yellow,
  running: pc.cyan,
};

/** A state in its colour, where the terminal has colours. */
export function coloredState(state: string): string {
  return (STATE_COLORS[state] ?? ((text: string) => text))(state);
}

/** How long ago, or how long: "45 s", "12 min", "3.4 h", "90 d". */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  // As a number: a whole one without a decimal.
  if (seconds < 172_800) return `${Number((seconds / 3600).toFixed(1))} h`;
  return `${Number((seconds / 86_400).toFixed(1))} d`;
}

/** "1 row", "2 rows". */
export function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Characters that a terminal obeys, that turn or break a line, or that nobody sees. */
const NOT_INERT =
  /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\u{200b}\u{2060}-\u{206f}\u{feff}\u{e0000}-\u{e007f}]/gu;

/** Foreign text made safe for a terminal: such characters are shown, not obeyed. Tabs and line feeds stay. */
export function inert(text: string): string {
  // What a training printed could otherwise rewrite the terminal of whoever watches it.
  return text.replace(NOT_INERT, (char) => {
    if (char === '\t' || char === '\n') return char;
    const code = char.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
}

/**
 * Success in per cent: that on held-out games once it has succeeded; that of the last rollouts while it trains, and where
 * it was ended before, since the games may have been played long before.
 */
export function successRate({ state, progress }: Pick<Experiment, 'state' | 'progress'>): string {
  const names = ['episode/success_rate', 'val/success_rate'];
  const [first, second] = state === 'succeeded' ? names.toReversed() : names;
  const rate = progress.metrics[first!] ?? progress.metrics[second!];
  return typeof rate === 'number' ? `${(rate * 100).toFixed(0)} %` : '-';
}
