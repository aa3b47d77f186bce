/** One child process of the verifier's pool, seen from its parent. */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { FromChild, ToChild } from './child-main.ts';
import type { LimitedStart } from './memory-limit.ts';
import type { TaskName } from './tasks.ts';

/** A task without its bytes, and its bytes. */
export interface Order {
  readonly name: TaskName;
  readonly task: Readonly<Record<string, unknown>>;
  readonly bytes?: Uint8Array | undefined;
}

/** Why a task was given up: its time was over, or its process ended. */
export type GivenUp = { readonly overTime: true } | { readonly died: string };

const SCRIPT = fileURLToPath(
  new URL(`./child-main.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
);

/** Bytes are sent in parts of this size, so that a large batch does not block the event loop. */
const PART_BYTES = 2 ** 20;
const MAX_STDERR_CHARACTERS = 2_000;

/** An idle child must not keep this process from ending. */
export function hold(child: ChildProcess, busy: boolean): void {
  for (const part of [child, child.channel, child.stderr as Socket | null]) {
    if (busy) part?.ref();
    else part?.unref();
  }
}

/** No process can verify now. The same request may succeed later. */
export class VerifierBusyError extends Error {
  readonly code = 'verifier-busy';
}

/** Resolves once the child can take tasks. Throws {@link VerifierBusyError} if it cannot start. */
export async function startChild(start: LimitedStart): Promise<ChildProcess> {
  const child = await start(SCRIPT);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(0, MAX_STDERR_CHARACTERS);
  });
  const ended = new AbortController();
  const fail = (what: string): void => ended.abort(what);
  const onExit = (code: number | null, signal: string | null): void => fail(endingOf(code, signal));
  child.once('exit', onExit);
  child.on('error', ({ message }) => fail(message));
  try {
    await once(child, 'message', { signal: ended.signal });
  } catch {
    const detail = `The process that verifies could not start (${ended.signal.reason}). Retry later.`;
    throw new VerifierBusyError(detail, { cause: new Error(stderr) });
  }
  child.off('exit', onExit);
  return child;
}

function endingOf(code: number | null, signal: string | null): string {
  return signal ?? `exit code ${code}`;
}

/** Sends the task and waits for its answer, its time or its end. */
export async function carriedOut(
  child: ChildProcess,
  order: Order,
  budgetMs: number,
  signal?: AbortSignal,
): Promise<Exclude<FromChild, { ready: true }> | GivenUp> {
  const over = new AbortController();
  try {
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve({ overTime: true }), budgetMs);
      const onExit = (code: number | null, by: string | null): void => resolve({ died: endingOf(code, by) });
      const onAbort = (): void => resolve({ died: 'the caller' });
      child.once('exit', onExit);
      child.once('message', resolve);
      signal?.addEventListener('abort', onAbort, { once: true });
      over.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        child.off('exit', onExit);
        child.off('message', resolve);
        signal?.removeEventListener('abort', onAbort);
      });
      if (signal?.aborted) onAbort();
      // A child that has ended says so by its exit.
      else void send(child, order).catch(() => {});
    });
  } finally {
    over.abort();
  }
}

async function send(child: ChildProcess, { name, task, bytes = new Uint8Array(0) }: Order): Promise<void> {
  for (let at = 0; at < bytes.length; at += PART_BYTES)
    await sendOne(child, { part: bytes.subarray(at, at + PART_BYTES) });
  await sendOne(child, { name, task, bytes: bytes.length });
}

function sendOne(child: ChildProcess, message: ToChild): Promise<void> {
  return new Promise((resolve, reject) => {
    child.send(message, (error) => (error === null ? resolve() : reject(error)));
  });
}
