import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../../src/cli/local/processes.ts';

/** The Python of Ray and of the programs of the campaign. */
export const PYTHON = resolve(process.env.ECHELON_PYTHON ?? '.venv/bin/python');
/** GPUs and CPUs of each node but the head. */
export const GPUS = 4;
/** The most nodes that the fake autoscaler brings. */
export const MAX_BROUGHT = 3;
const START_TRIES = 3;

/** A Ray whose head and nodes can be killed and started again at the same addresses. */
export interface CampaignRay {
  /** `ray://127.0.0.1:port` */
  readonly address: string;
  startNode(address: string): Promise<void>;
  /** kill -9 of everything of a node. */
  killNode(address: string): void;
  /** kill -9 of the head, and with it of all nodes; then a new head and the same nodes. */
  replaceHead(): Promise<void>;
  /** Ids of the running ray-worker actors. */
  rayWorkers(): number[];
  stop(): void;
}

/** Starts it with nodes at these loopback addresses; `autoscaled`: with Ray's fake autoscaler, which brings nodes and releases idle ones. */
export async function startRay(
  addresses: readonly string[],
  { autoscaled = false } = {},
): Promise<CampaignRay & { gcs: string }> {
  const directory = mkdtempSync('/tmp/cc-');
  const [gcsPort, clientPort] = [await freePort(), await freePort()];
  const gcs = `127.0.0.1:${gcsPort}`;
  const environment = {
    ...process.env,
    PATH: `${dirname(PYTHON)}:${process.env.PATH}`,
    RAY_AUTH_MODE: 'disabled',
    RAY_USAGE_STATS_ENABLED: '0',
    RAY_worker_niceness: '0',
    ECHELON_RAY_CAMPAIGN: directory,
    ...(autoscaled && { RAY_FAKE_CLUSTER: '1', AUTOSCALER_UPDATE_INTERVAL_S: '1' }),
  };
  const config = join(directory, 'autoscaler.json');
  if (autoscaled) writeFileSync(config, JSON.stringify(autoscaler(gcs)));
  const running = new Map<string, ChildProcess>();

  /** A node of a head that has just started may time out. */
  async function start(address: string, args: readonly string[]): Promise<void> {
    for (let tried = 1; !(await hasStarted(address, args)); tried += 1) {
      killNode(address);
      if (tried === START_TRIES) throw new Error(`Ray did not start at ${address}`);
    }
  }
  async function hasStarted(address: string, args: readonly string[]): Promise<boolean> {
    const agentPort = await freePort();
    const child = spawn(
      join(dirname(PYTHON), 'ray'),
      [
        ...['start', '--block', `--node-ip-address=${address}`, '--disable-usage-stats'],
        ...['--min-worker-port=0', '--max-worker-port=0', `--dashboard-agent-listen-port=${agentPort}`],
        ...args,
      ],
      { detached: true, env: environment, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    running.set(address, child);
    for await (const line of createInterface({ input: child.stdout! }))
      if (line.includes('runtime started')) {
        child.stdout!.resume();
        return true;
      }
    return false;
  }
  const startHead = () =>
    start('127.0.0.1', [
      ...[
        '--head',
        `--port=${gcsPort}`,
        `--ray-client-server-port=${clientPort}`,
        '--num-cpus=4',
        '--num-gpus=0',
      ],
      ...['--include-dashboard=false', `--temp-dir=${directory}`, '--object-store-memory=100000000'],
      ...(autoscaled ? [`--autoscaling-config=${config}`] : []),
    ]);
  const startNode = (address: string) =>
    start(address, [
      `--address=${gcs}`,
      `--num-gpus=${GPUS}`,
      `--num-cpus=${GPUS}`,
      '--object-store-memory=80000000',
    ]);
  function killNode(address: string): void {
    for (const pid of sessionOf(running.get(address)?.pid)) kill(pid);
    running.delete(address);
  }
  function stop(): void {
    for (const address of [...running.keys()]) killNode(address);
    rmSync(directory, { recursive: true, force: true });
  }

  await startHead();
  for (const address of addresses) await startNode(address);
  return {
    gcs,
    address: `ray://127.0.0.1:${clientPort}`,
    startNode,
    killNode,
    async replaceHead() {
      for (const address of [...running.keys()]) killNode(address);
      await startHead();
      for (const address of addresses) await startNode(address);
    },
    rayWorkers: () =>
      pids().filter((pid) => {
        const [command, variables] = [read(pid, 'cmdline'), read(pid, 'environ')];
        return (
          command.startsWith('ray::RayWorker') && variables.includes(`ECHELON_RAY_CAMPAIGN=${directory}`)
        );
      }),
    stop,
  };
}

/** The configuration of Ray's own fake autoscaler: its nodes are processes of the head. */
function autoscaler(gcs: string): object {
  const node = (cpus: number, gpus: number, max: number) => ({
    resources: { CPU: cpus, GPU: gpus, object_store_memory: 80_000_000 },
    node_config: {},
    min_workers: 0,
    max_workers: max,
  });
  const empty = ['cluster_synced_files', 'rsync_exclude', 'rsync_filter'].concat(
    ['initialization', 'setup', 'head_setup', 'worker_setup', 'head_start_ray', 'worker_start_ray'].map(
      (name) => `${name}_commands`,
    ),
  );
  return {
    cluster_name: 'fake',
    max_workers: MAX_BROUGHT,
    idle_timeout_minutes: 0.1,
    upscaling_speed: 10,
    provider: {
      type: 'fake_multinode',
      gcs_address: gcs,
      launch_multiple: true,
      use_node_id_as_ip: true,
      disable_node_updaters: true,
      disable_launch_config_check: true,
    },
    head_node_type: 'ray.head.default',
    available_node_types: { 'ray.head.default': node(4, 0, 0), gpu: node(GPUS, GPUS, MAX_BROUGHT) },
    ...{ auth: {}, docker: {}, file_mounts: {}, file_mounts_sync_continuously: false },
    ...Object.fromEntries(empty.map((name) => [name, []])),
  };
}

/** The processes whose command line has all these words. */
export function processesWith(...words: readonly string[]): number[] {
  return pids().filter((pid) => words.every((word) => read(pid, 'cmdline').includes(word)));
}

/** Sends a signal, unless the process has ended. */
export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function sessionOf(leader: number | undefined): number[] {
  // After the name in parentheses: state, parent, group, session.
  return pids().filter(
    (pid) =>
      Number(
        read(pid, 'stat')
          .replace(/^.*\) /s, '')
          .split(' ')[3],
      ) === leader,
  );
}

function pids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** Another user's job; see neighbour.py. */
export interface Neighbour {
  ask<Answer>(...command: readonly unknown[]): Promise<Answer>;
  hasEnded(): boolean;
  end(): void;
}

/** Starts it on the Ray at this address of its control store. */
export async function startNeighbour(gcs: string): Promise<Neighbour> {
  const child = spawn(PYTHON, [join(import.meta.dirname, 'neighbour.py'), gcs], {
    env: { ...process.env, RAY_AUTH_MODE: 'disabled' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin!.on('error', () => {}); // it dies with the head; its answer is then missing
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const next = async () => {
    for (;;) {
      const { value } = await lines.next();
      if (value === undefined) throw new Error('the neighbour has ended');
      // Ray prints lines of its own there.
      if ((value as string).startsWith('{')) return JSON.parse(value as string);
    }
  };
  await next();
  let turn: Promise<unknown> = Promise.resolve();
  return {
    ask(...command) {
      const asked = turn.then(async () => {
        child.stdin!.write(`${JSON.stringify(command)}\n`);
        return await next();
      });
      turn = asked.catch(() => {});
      return asked;
    },
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    end() {
      kill(child.pid!);
      void once(child, 'exit');
    },
  };
}
