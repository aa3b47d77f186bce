import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CliError, EXIT } from 'command-kit/exit';
import type { ExperimentSpec } from 'echelon-client/calls';
import { type Client, createClient } from '../../src/cli/client.ts';
import { freePort } from '../../src/cli/local/processes.ts';
import { startRedis } from '../../src/cli/local/redis-server.ts';
import { type LocalStack, startLocalStack } from '../../src/cli/local/stack.ts';
import { isFinal } from '../../src/core/states.ts';
import type { Accepted, ExperimentDetail } from '../../src/schemas/api.ts';
import { type Command, isCommandOver } from '../../src/schemas/clusters.ts';
import type { Experiment } from '../../src/schemas/experiment.ts';
import { keepLines } from './kept-log.ts';

const CLI = new URL('../../src/cli/main.ts', import.meta.url).pathname;
/** The token of the api. */
export const TOKEN = 'a-token-for-tests-only';

/** A role in a process of its own. */
export interface RoleProcess {
  pid: number;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<void>;
  /** What it has logged so far. */
  log(): string;
}

/** The whole system with real parts; every role is a process of its own, so that each can be killed. */
export interface System {
  stack: LocalStack;
  stateDir: string;
  client: Client;
  /** Of the api, which is the same after a restart. */
  url: string;
  api: RoleProcess;
  startApi(): Promise<RoleProcess>;
  startDispatcher(): Promise<RoleProcess>;
  /** kill -9 of Redis, then a new one on the same data. */
  restartRedis(): Promise<void>;
  submit(spec: unknown): Promise<Accepted>;
  get(id: string): Promise<Experiment>;
  /** Polls an experiment until `holds`; fails with its record when `timeoutMs` are over. */
  until(
    id: string,
    what: string,
    holds: (experiment: Experiment) => boolean,
    timeoutMs?: number,
  ): Promise<Experiment>;
  stop(): Promise<void>;
}

/** Starts Redis, Ray and an api; dispatchers are the caller's to start, and the first one adds the cluster. */
export async function startSystem({
  leaseMs = 6_000,
  addLocal = true,
  environment = process.env,
  wrap = [],
}: {
  /** After this time what a dead dispatcher had is taken over; a busy machine should not hold up a live one as long. */
  leaseMs?: number;
  /** False: no cluster is added. */
  addLocal?: boolean;
  /** Of every process of the system. */
  environment?: NodeJS.ProcessEnv;
  /** See {@link spawnRole}. */
  wrap?: readonly string[];
} = {}): Promise<System> {
  const resources = new AsyncDisposableStack();
  try {
    return await assemble(resources, { leaseMs, addLocal, base: environment, wrap });
  } catch (error) {
    await resources.disposeAsync();
    throw error;
  }
}

async function assemble(
  resources: AsyncDisposableStack,
  {
    leaseMs,
    addLocal,
    base,
    wrap,
  }: { leaseMs: number; addLocal: boolean; base: NodeJS.ProcessEnv; wrap: readonly string[] },
): Promise<System> {
  const stateDir = await mkdtemp(join(tmpdir(), 'ech-e2e-'));
  resources.defer(() => rm(stateDir, { recursive: true, force: true }));
  const stack = await startLocalStack({
    stateDir,
    redisUrl: null,
    python: base.ECHELON_PYTHON ?? '.venv/bin/python',
    environment: base,
    resources,
    progress: () => undefined,
  });
  const redisUrl = 'path' in stack.redis ? stack.redis.path : stack.redis.url;
  const environment = {
    ...base,
    REDIS_URL: redisUrl,
    ECHELON_STATE_DIR: stateDir,
    ECHELON_TOKENS: TOKEN,
    // The same after a restart, as it would be for users.
    ECHELON_PORT: base.ECHELON_PORT ?? String(await freePort()),
    ECHELON_LEASE_MS: String(leaseMs),
  };
  const startRole = async (args: string[], ready: RegExp): Promise<[RoleProcess, string]> => {
    const [role, match] = await spawnRole(args, environment, ready, wrap);
    resources.defer(async () => {
      role.kill('SIGCONT');
      role.kill('SIGKILL');
      await role.ended;
    });
    return [role, match];
  };
  const startApi = async () => startRole(['api'], /listening on (\S+)/);
  const [api, url] = await startApi();
  const client = createClient({ url, token: TOKEN });
  let added: Promise<void> | undefined;
  const get = (id: string) => client.get('/v1/experiments/{id}', { path: { id } });
  return {
    stack,
    stateDir,
    client,
    url,
    api,
    startApi: async () => (await startApi())[0],
    async startDispatcher() {
      const [dispatcher] = await startRole(['dispatcher'], /(dispatching)/);
      if (addLocal) added ??= addCluster(client, stack.cluster);
      await added;
      return dispatcher;
    },
    restartRedis: () => restartRedis(stateDir, resources),
    submit: (spec) => client.post('/v1/experiments', { body: spec as ExperimentSpec }),
    get,
    async until(id, what, holds, timeoutMs = 60_000) {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const experiment = await get(id).catch(awayForNow);
        if (experiment && holds(experiment)) return experiment;
        const over = experiment && isFinal(experiment.state) && experiment.verification.status === 'complete';
        if (over || Date.now() > deadline)
          throw new Error(`${over ? 'it has ended without' : 'not in time'}: ${what}; ${brief(experiment)}`);
        await delay(50);
      }
    },
    stop: () => resources.disposeAsync(),
  };
}

/** What of a record says how it stands. */
function brief(experiment: ExperimentDetail | undefined): string {
  if (experiment === undefined) return 'the api does not answer';
  const { id, state, attempt, reason, waitReason, progress, verification } = experiment;
  const said = { id, state, attempt, reason, waitReason, step: progress.step, verification };
  return JSON.stringify(said);
}

/** Adds a Ray cluster over REST and waits until it takes experiments. */
async function addCluster(
  client: Client,
  { rayAddress, rayToken, rayTls: _, ...cluster }: LocalStack['cluster'],
): Promise<void> {
  const body = { ...cluster, address: rayAddress, token: rayToken };
  const { id } = await client.post('/v1/clusters', { body });
  const ended = await commandEnded(client, id);
  if (ended.state !== 'succeeded') throw new Error(JSON.stringify(ended));
}

/** Polls a command until it is over. */
export async function commandEnded(client: Client, id: string, timeoutMs = 90_000): Promise<Command> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const command = await client.get('/v1/commands/{id}', { path: { id } });
    if (isCommandOver(command)) return command;
    if (Date.now() > deadline) throw new Error(`not over: ${JSON.stringify(command)}`);
    await delay(50);
  }
}

/** While a part is being restarted, no answer is an answer; anything else is a failure. */
function awayForNow(error: unknown): undefined {
  if (
    error instanceof CliError &&
    (error.exitCode === EXIT.unreachable || error.code === 'store-unavailable')
  )
    return;
  throw error;
}

async function restartRedis(stateDir: string, resources: AsyncDisposableStack): Promise<void> {
  const directory = join(stateDir, 'redis');
  const { stdout } = await promisify(execFile)('pgrep', ['-f', `^[^ ]*(redis|valkey)-server .*${directory}`]);
  const pid = Number(stdout.trim());
  process.kill(pid, 'SIGKILL');
  while (await stat(`/proc/${pid}`).catch(() => undefined)) await delay(10);
  const { server } = await startRedis({ directory, environment: process.env });
  resources.defer(() => server.stop(5000));
}

/**
 * Starts a role of the CLI; resolves when its log matches `ready`, with the first group. `wrap`: a command that runs it, and
 * becomes its process.
 */
export async function spawnRole(
  args: string[],
  environment: NodeJS.ProcessEnv,
  ready: RegExp,
  wrap: readonly string[] = [],
): Promise<[RoleProcess, string]> {
  const [program = '', ...words] = [...wrap, process.execPath, CLI, ...args];
  const child: ChildProcess = spawn(program, words, {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  keepLines(args[0]!, child.stderr!);
  let log = '';
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    log += text;
    const match = ready.exec(log);
    if (match) resolve(match[1]!);
  });
  const ended = once(child, 'exit').then(([code, signal]) =>
    reject(new Error(`${args[0]} ended (${code ?? signal}): ${log}`)),
  );
  const role: RoleProcess = { pid: child.pid!, kill: (signal) => child.kill(signal), ended, log: () => log };
  return [role, await promise];
}

/** Processes whose environment names this experiment: its supervisors' drivers and their children. */
export function processesOf(experiment: string): Promise<number[]> {
  return processesWith(`ECHELON_EXPERIMENT=${experiment}`);
}

/** Processes of the machine that have `NAME=value` in their environment. */
export async function processesWith(variable: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const marked = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environment.split('\0').includes(variable) ? Number(pid) : undefined;
    }),
  );
  return marked.filter((pid) => pid !== undefined);
}
