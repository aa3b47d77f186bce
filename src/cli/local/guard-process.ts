import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Undo } from './guard.ts';

// The other side of guard.ts: reads what has to be undone from standard input, one JSON document a line, and undoes
// what is left when that ends. Standard input ends with the process that holds its other end, however that ends.

type Message = { id: number; undo: Undo } | { forget: number };

const left = new Map<number, Undo>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as Message;
  if ('undo' in message) left.set(message.id, message.undo);
  else left.delete(message.forget);
}
for (const undo of [...left.values()].reverse()) {
  // One thing that cannot be undone must not keep the others.
  await carryOut(undo).catch(() => undefined);
}

async function carryOut(undo: Undo): Promise<void> {
  switch (undo.kind) {
    case 'group':
      return await endGroup(undo);
    case 'run':
      spawnSync(undo.command, undo.args, {
        env: undo.environment,
        stdio: 'ignore',
        timeout: undo.timeoutMs,
        killSignal: 'SIGKILL',
      });
      return;
    case 'remove':
      return rmSync(undo.path, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function endGroup({ pid, graceMs }: Extract<Undo, { kind: 'group' }>): Promise<void> {
  const deadline = Date.now() + graceMs;
  send(pid, 'SIGTERM');
  while (runs(pid) && Date.now() < deadline) await delay(20);
  send(-pid, 'SIGKILL');
  while (runs(pid)) await delay(20);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** A zombie counts as ended: its parent may never collect it. */
function runs(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}
