/** Starts a process whose memory the operating system limits. */

import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** What a process may take. */
export interface ProcessLimits {
  /** Memory beyond what an idle Node process has. */
  readonly memoryBytes: number;
  /** Memory of JavaScript objects. */
  readonly heapBytes: number;
  /** Processor time. It ends a process whose parent was killed. Default: no limit. */
  readonly cpuSeconds?: number;
}

/**
 * `ulimit -d` limits private writable memory, native code included (RLIMIT_DATA, Linux 4.7 or later). If the machine runs
 * out of memory nonetheless, the kernel ends this process first. A limit of the caller that is stricter remains.
 */
const LIMITED = `
ulimit -c 0
ulimit -t "$1" 2>/dev/null
ulimit -d "$2" 2>/dev/null || [ "$(ulimit -d)" != unlimited ] || exit 78
{ echo 1000 > /proc/self/oom_score_adj; } 2>/dev/null
shift 2
exec "$@"`;

/** Starts a script with an IPC channel, without the caller's environment: it may hold secrets. */
export type LimitedStart = (script: string) => Promise<ChildProcess>;

/**
 * On Linux the system enforces the limit of memory. Elsewhere {@link watchMemory} compares the resident memory with it
 * from time to time, so that a process can exceed it briefly.
 */
export function createLimitedStart(limits: ProcessLimits): LimitedStart {
  let base: Promise<number | undefined> | undefined;
  return async (script) => {
    base ??= idleBytes(limits);
    return spawnLimited(limits, await base, [script], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      env: {},
    });
  };
}

/**
 * Starts Node with the limits. `idle` is the private writable memory that an idle Node process has, undefined if the system
 * does not say.
 */
export function spawnLimited(
  limits: ProcessLimits,
  idle: number | undefined,
  script: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const { memoryBytes, cpuSeconds } = limits;
  const node = [process.execPath, ...flagsOf(limits), ...script];
  if (idle === undefined) {
    const child = spawn(node[0]!, node.slice(1), options);
    watchMemory(child, memoryBytes);
    return child;
  }
  const seconds = cpuSeconds === undefined ? 'unlimited' : String(Math.ceil(cpuSeconds));
  const kib = String(Math.ceil((idle + memoryBytes) / 1024));
  return spawn('/bin/sh', ['-c', LIMITED, 'sh', seconds, kib, ...node], options);
}

const flagsOf = ({ heapBytes }: ProcessLimits): string[] => [
  `--max-old-space-size=${Math.ceil(heapBytes / 2 ** 20)}`,
];

/** Of an idle process with the limits, most of it reserved and untouched; undefined if the system does not say. */
async function idleBytes(limits: ProcessLimits): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const script = 'process.stdout.write(require("node:fs").readFileSync("/proc/self/status", "latin1"))';
  const args = [...flagsOf(limits), '-e', script];
  return dataBytes((await promisify(execFile)(process.execPath, args, { env: {} })).stdout);
}

/** Private writable memory of this process; undefined if the system does not say. */
export function ownBytes(): number | undefined {
  return process.platform === 'linux' ? dataBytes(readFileSync('/proc/self/status', 'latin1')) : undefined;
}

function dataBytes(status: string): number | undefined {
  const kib = /^VmData:\s+(\d+) kB$/m.exec(status)?.[1];
  return kib === undefined ? undefined : Number(kib) * 1024;
}

const WATCH_MS = 250;
/** Resident memory of an idle Node process, with some room. */
const IDLE_RESIDENT_BYTES = 2 ** 27;

/** Ends the process once its resident memory exceeds the limit. */
function watchMemory(child: ChildProcess, memoryBytes: number): void {
  const timer = setInterval(async () => {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(child.pid)], {
      env: { PATH: '/bin:/usr/bin' },
    }).catch(() => ({ stdout: '0' }));
    if (Number(stdout) * 1024 > memoryBytes + IDLE_RESIDENT_BYTES) child.kill('SIGKILL');
  }, WATCH_MS);
  timer.unref();
  child.once('exit', () => clearInterval(timer));
}
