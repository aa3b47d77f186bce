import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { setupOf } from '../harness.ts';

/** What a process has used so far, and its memory now. */
export interface Usage {
  cpuMs: number;
  rss: number;
}

const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** Of a process by its id, with all its threads. */
export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    rss: Number(fields[21]) * PAGE_BYTES,
  };
}

/** The share of a core, in percent, that each of these processes takes over the next `ms`. */
export async function cpuShares(pids: readonly number[], ms: number): Promise<number[]> {
  const before = pids.map(usageOf);
  const start = performance.now();
  await pause(ms);
  const passed = performance.now() - start;
  return pids.map((pid, at) => (100 * (usageOf(pid).cpuMs - before[at]!.cpuMs)) / passed);
}

/** Memory of a Redis that its data uses. */
export async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}

/** The first line of a section: machine, versions, date and load, without which a figure means nothing. */
export async function setupLine(redis: Redis, command: string): Promise<string> {
  return `\`${command}\`: ${await setupOf(redis)} at the start.`;
}

/** Bytes in megabytes. */
export const inMB = (bytes: number, figures = 0) => (bytes / 1e6).toFixed(figures);
