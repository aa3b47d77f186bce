import { inspect } from 'node:util';
import type { Log } from '../../src/dispatch/log.ts';

const LINES_OF_A_SOURCE = 150;
const LONGEST_LINE = 1_000;
const ANSWERED = /"status":[23]\d\d,.*"msg":"answered"/;

const sources = new Map<string, string[]>();

/** Keeps a line that `source` logged, the last of them; they are printed where a test of this process has failed. */
export function keepLine(source: string, line: string): void {
  if (process.env.ECHELON_TEST_LOG) console.error(`${source} | ${line}`);
  const lines = sources.get(source) ?? [];
  if (sources.size === 0) process.once('exit', printIfFailed);
  sources.set(source, lines);
  lines.push(`${new Date().toISOString().slice(11, 23)} ${line.slice(0, LONGEST_LINE)}`);
  if (lines.length > LINES_OF_A_SOURCE) lines.shift();
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

function printIfFailed(code: number): void {
  if (code === 0) return;
  for (const [source, lines] of sources) console.error(`--- ${source} logged last:\n${lines.join('\n')}`);
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
