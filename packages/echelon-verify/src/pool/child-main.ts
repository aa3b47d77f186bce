/** The child process of the verifier's pool: carries out one task after another. */

import { TASKS, type TaskName } from './tasks.ts';

/** A part of the bytes of the next task, or the task. */
export type ToChild =
  | { readonly part: Uint8Array }
  | { readonly name: TaskName; readonly task: Readonly<Record<string, unknown>>; readonly bytes: number };

/** That it can take tasks; or the answer to one, or why there is none. */
export type FromChild =
  | { readonly ready: true }
  | (({ readonly answer: unknown } | { readonly failed: string }) & { readonly rssBytes: number });

let parts: Uint8Array[] = [];

function joined(bytes: number): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

async function carryOut({ name, task, bytes }: Extract<ToChild, { name: TaskName }>): Promise<FromChild> {
  const work = TASKS[name] as (task: object) => unknown;
  try {
    const wire = joined(bytes);
    parts = [];
    const answer = await work(bytes === 0 ? task : { ...task, wire });
    return { answer, rssBytes: process.memoryUsage.rss() };
  } catch (error) {
    return { failed: (error as Error).stack ?? String(error), rssBytes: process.memoryUsage.rss() };
  }
}

// The parent decides when it ends: a signal to the whole group must not make a batch unverifiable.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', async (message: ToChild) => {
  if ('part' in message) parts.push(message.part);
  else process.send?.(await carryOut(message));
});
process.send?.({ ready: true } satisfies FromChild);
