import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createRayWorkerClient } from '../../../src/rpc/client.ts';
import { type Connected, until } from '../../support/dispatch.ts';
import { processesWith, type System } from '../../support/system.ts';
import type { Part } from '../world.ts';

/** A process with a clock that no fault sets. */
export type Process = Omit<Part, 'setClock'>;

/** The cluster of the system. */
export const CLUSTER = 'local';
const SECONDS = 60;

/** Stops a process and continues it after some time. `pid`: none, if another fault has just ended it. */
export async function freeze(pid: number | undefined, ms: number): Promise<void> {
  if (pid === undefined) return;
  send(pid, 'SIGSTOP');
  await delay(ms);
  send(pid, 'SIGCONT');
}

/** Sends a signal, unless the process has ended by itself. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The command lines of all processes that this one sees. */
export function processTable(): Map<number, string> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return new Map(pids.map((pid) => [Number(pid), commandOf(pid)] as const).filter(([, line]) => line !== ''));
}

/** Empty for a process that has ended. */
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** The ray-worker, which Ray itself starts again. */
export function rayWorkerOf(system: System, { store }: Connected): Process {
  const actors = async () => {
    const marked = await processesWith(`RAY_AUTH_TOKEN=${system.stack.cluster.rayToken}`);
    const table = processTable();
    return marked.filter((pid) => table.get(pid)?.includes('ray::RayWorker'));
  };
  async function answers(): Promise<boolean> {
    const [cluster] = await store.clusters.list([CLUSTER]).catch(() => []);
    if (!cluster) return false;
    const client = createRayWorkerClient(cluster);
    const answered = client.list().then(
      () => true,
      () => false,
    );
    return await answered.finally(() => client.close());
  }
  return {
    async replace(signal) {
      const before = await actors();
      for (const pid of before) send(pid, signal);
      const another = async () => (await actors()).some((pid) => !before.includes(pid));
      await until(another, 'Ray has started another ray-worker', { seconds: SECONDS });
      await until(answers, 'the ray-worker answers', { seconds: SECONDS });
    },
    freeze: async (ms) => freeze((await actors())[0], ms),
  };
}

/** Redis, which starts again with its append-only file. */
export function redisOf(system: System, { redis }: Connected): Process {
  return {
    replace: () => system.restartRedis(),
    async freeze(ms) {
      const info = await redis.info('server').catch(() => '');
      await freeze(Number(/process_id:(\d+)/.exec(info)?.[1]) || undefined, ms);
    },
  };
}
