import { inspect } from 'node:util';
import type { Log } from '../../src/dispatch/log.ts';

const LINES_OF_A_SOURCE = 60;
const LONGEST_LINE = 600;
const ANSWERED = /"status":[23]\d\d,.*"msg":"answered"/;
/** What differs between lines that say the same: identifiers and numbers. */
const DIFFERENT = /\b(?:[0-9a-f]{8}-[0-9a-f-]{27}|[a-z]{2,4}-[0-9a-z]{20}|\d+)\b/g;

/** Of each source its lines by what they say, the one that was said last at the end. */
const sources = new Map<string, Map<string, { text: string; times: number }>>();

/**
 * Keeps the last lines that `source` logged, of those that differ only in numbers and ids the last one; they are printed where
 * a test of this process has failed.
 */
export function keepLine(source: string, line: string): void {
  if (process.env.ECHELON_TEST_LOG) console.error(`${source} | ${line}`);
  const lines = sources.get(source) ?? new Map();
  if (sources.size === 0) process.once('exit', atExit);
  sources.set(source, lines);
  const said = line.replaceAll(DIFFERENT, '#');
  const times = (lines.get(said)?.times ?? 0) + 1;
  const text = `${new Date().toISOString().slice(11, 23)} ${line.slice(0, LONGEST_LINE)}`;
  lines.delete(said);
  lines.set(said, { text, times });
  if (lines.size > LINES_OF_A_SOURCE) lines.delete(lines.keys().next().value!);
}

/** {@link keepLine} for each line of a stream. Successful answers of an api are omitted. */
export function keepLines(source: string, stream: NodeJS.ReadableStream): void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (!ANSWERED.test(line)) keepLine(source, line);
  });
}

/** Campaigns have statuses of their own for what is no failure. */
const atExit = (code: number): void => endKeptLines(code === 1);

/** Prints the lines if a test has failed, and forgets them. A process that runs several files calls it after each of them. */
export function endKeptLines(hasFailed: boolean): void {
  process.off('exit', atExit);
  if (hasFailed) print();
  sources.clear();
}

function print(): void {
  for (const [source, lines] of sources) {
    console.error(`--- ${source} logged last:`);
    for (const { text, times } of lines.values())
      console.error(times === 1 ? text : `${text} (${times} times)`);
  }
  sources.clear();
}

/** A log whose lines go to `write`. */
export function createLineLog(write: (line: string) => void): Log {
  const at = (level: string) => (context: object, message: string) =>
    write(`${level} ${message} ${shown(context)}`);
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

function shown({ err, ...context }: { err?: unknown }): string {
  const reason = err instanceof Error ? `${err.name}: ${err.message}` : err;
  const whole = reason === undefined ? context : { ...context, err: reason };
  return inspect(whole, { breakLength: Number.POSITIVE_INFINITY, depth: 3 });
}
