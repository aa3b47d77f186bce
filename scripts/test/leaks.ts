import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { networkOf, processes, read, statOf, TICKS_PER_SECOND } from './proc.ts';

/** By what the traces of an item are recognised. */
export interface Traces {
  /** The value of {@link MARK} in the environment of its processes. */
  readonly mark: string;
  /** Its TMPDIR. */
  readonly directory: string;
  /** The process that runs its files, if that is alive. */
  readonly lane?: number;
}

/** Something that a test leaves, and when it arose (ms since the epoch). */
export interface Leak {
  readonly what: string;
  readonly at?: number;
}

/** The variable by which the processes of an item are found. */
export const MARK = 'TEST_FILE_MARK';

/** A process that got a signal may need this long to end. */
const SETTLE_MS = 10_000;
const POLL_MS = 25;
const LISTENING = '0A';

const ownNetwork = networkOf('self');
/** Processes older than the runner belong to no test. */
const older = new Set(processes());

/** What an item left: processes, listening ports and temporary files. Ends and removes them, so that the next items meet none. */
export async function clear(traces: Traces): Promise<Leak[]> {
  for (const begun = Date.now(); ; await pause(POLL_MS)) {
    const leaks = [...leftProcesses(traces), ...leftPorts(traces), ...leftFiles(traces)];
    if (leaks.length === 0) return [];
    if (Date.now() - begun < SETTLE_MS) continue;
    for (const pid of processesOf(traces)) kill(pid);
    for (const name of readdirSync(traces.directory))
      rmSync(join(traces.directory, name), { recursive: true, force: true });
    return leaks;
  }
}

/** Ends the processes of all items whose marks begin with `prefix`: those of a run that ends early. */
export function killMarked(prefix: string): void {
  for (const pid of processes())
    if (!older.has(pid) && read(pid, 'environ').includes(`\0${MARK}=${prefix}`)) kill(pid);
}

function leftProcesses(traces: Traces): Leak[] {
  return processesOf(traces).map((pid) => {
    const command = read(pid, 'cmdline').split('\0').join(' ').slice(0, 120).trim();
    return { what: `process ${pid} (${command})`, at: startedAt(pid) };
  });
}

/** Processes with the mark, and those in the network namespace of the lane; without those that have ended. */
function processesOf({ mark, lane }: Traces): number[] {
  const network = lane === undefined ? undefined : networkOf(lane);
  return processes().filter((pid) => {
    if (older.has(pid) || pid === lane || pid === process.pid) return false;
    const isInside = network !== undefined && network !== ownNetwork && networkOf(pid) === network;
    return (isInside || read(pid, 'environ').split('\0').includes(`${MARK}=${mark}`)) && !hasEnded(pid);
  });
}

/** Ports on which the lane itself still listens; a port of another process comes with that process. */
function leftPorts({ lane }: Traces): Leak[] {
  if (lane === undefined || networkOf(lane) === ownNetwork) return [];
  const rows = ['net/tcp', 'net/tcp6'].flatMap((table) => read(lane, table).trim().split('\n').slice(1));
  return rows.flatMap((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/);
    return state === LISTENING ? [{ what: `port ${Number.parseInt(local.split(':').at(-1)!, 16)}` }] : [];
  });
}

function leftFiles({ directory }: Traces): Leak[] {
  return readdirSync(directory).map((name) => {
    const stat = statSync(join(directory, name), { throwIfNoEntry: false });
    return { what: `temporary file ${name}`, ...(stat && { at: stat.birthtimeMs }) };
  });
}

const hasEnded = (pid: number): boolean => /^State:\s+[ZX]/m.test(read(pid, 'status') || 'State: X');

/** Milliseconds since the epoch; Linux counts in ticks since the boot. */
function startedAt(pid: number): number {
  const upMs = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
  return Date.now() - upMs + (Number(statOf(pid)?.[19]) * 1000) / TICKS_PER_SECOND;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
