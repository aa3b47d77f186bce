/** Starts a process whose memory the operating system limits. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';

/** What a process may take. */
export interface ProcessLimits {
  /** Memory beyond what an idle Node process has. */
  readonly memoryBytes: number;
  /** Memory of JavaScript objects. */
  readonly heapBytes: number;
  /** Processor time. It ends a process whose parent was killed. */
  readonly cpuSeconds: number;
}

/**
 * `ulimit -d` limits private writable memory, native code included (RLIMIT_DATA, Linux 4.7 or later). If the machine runs
 * out of memory nonetheless, the kernel ends this process first. A limit of the caller that is stricter remains.
 */
const LIMITED = `
ulimit -c 0
ulimit -t "$1"
ulimit -d "$2" || [ "$(ulimit -d)" != unlimited ] || exit 78
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
  const flags = [`--max-old-space-size=${Math.ceil(limits.heapBytes / 2 ** 20)}`];
  let base: Promise<number | undefined> | undefined;
  return async (script) => {
    base ??= idleBytes(flags);
    const idle = await base;
    const node = [process.execPath, ...flags, script];
    const kib = Math.ceil(((idle ?? 0) + limits.memoryBytes) / 1024);
    const [command, ...args] =
      idle === undefined
        ? node
        : ['/bin/sh', '-c', LIMITED, 'sh', String(Math.ceil(limits.cpuSeconds)), String(kib), ...node];
    const child = spawn(command!, args, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      env: {},
    });
    if (idle === undefined) watchMemory(child, limits.memoryBytes);
    return child;
  };
}

/** Private writable memory of an idle Node process, most of it reserved and untouched; undefined if the system does not say. */
async function idleBytes(flags: readonly string[]): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const script = 'process.stdout.write(require("node:fs").readFileSync("/proc/self/status", "latin1"))';
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '-e', script], { env: {} });
  const kib = /^VmData:\s+(\d+) kB$/m.exec(stdout)?.[1];
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
