import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A requirement of Echelon on this machine. */
export interface Check {
  name: string;
  ok: boolean;
  /** What works without it, at a cost: it does not count as missing. */
  warning?: boolean;
  found: string;
  /** What to do if it is missing. */
  remedy: string;
}

/** What a program printed within the time, or why it failed, in its last line. */
export async function answer(
  program: string,
  args: string[],
  timeoutMs = 30_000,
): Promise<{ ok: boolean; said: string }> {
  try {
    const { stdout, stderr } = await run(program, args, { timeout: timeoutMs });
    return { ok: true, said: lastLine(stdout) || lastLine(stderr) };
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    return { ok: false, said: lastLine(stderr) || message };
  }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1)!;
