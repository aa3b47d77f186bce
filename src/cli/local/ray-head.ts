import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, statfs } from 'node:fs/promises';
import { connect } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Guard } from './guard.ts';
import { freePort, type ServerProcess, startServer, waitUntilReady } from './processes.ts';
import { rayVersion, requireClosed } from './ray-release.ts';

/** By its module: the script `ray` beside an interpreter names the folder in which it was installed, also in a copy. */
const RAY = ['-m', 'ray.scripts.scripts'] as const;

/** A Ray of one node on this machine. */
export interface RayHead {
  /** host:port of the control store, for `RAY_ADDRESS`. */
  address: string;
  /** host:port of Ray's client server. */
  clientAddress: string;
  /** What it lets in with. */
  token: string;
  /** What a process needs to join: address, token, no usage statistics. */
  environment: NodeJS.ProcessEnv;
  server: ServerProcess;
  /** Ends Ray with everything it started, and removes its temporary files. */
  stop(): Promise<void>;
}

/**
 * Starts Ray with a generated token on free ports (its default for the control store is Redis's 6379). Ray may
 * bind to the address of a network interface, so the token is never optional; see {@link requireClosed}. Nothing of ours is
 * installed there: it is a stock Ray.
 */
export async function startRayHead(options: {
  python: string;
  logDirectory: string;
  environment: NodeJS.ProcessEnv;
  guard?: Guard;
}): Promise<RayHead> {
  const { guard } = options;
  requireClosed(await rayVersion(options.python, options.environment), options.environment);
  // Sockets below it must stay under 108 bytes, so it cannot be in the state directory.
  const temporary = await mkdtemp(join(tmpdir(), 'ech-ray-'));
  const forget = guard?.add({ kind: 'remove', path: temporary });
  const removeTemporary = async (): Promise<void> => {
    await rm(temporary, { recursive: true, force: true });
    forget?.();
  };
  await mkdir(options.logDirectory, { recursive: true });
  const [port, clientPort, agentPort] = [await headPort(), await headPort(), await headPort()];
  const token = randomBytes(32).toString('hex');
  const environment = environmentOf(token, options.environment);
  const logFile = join(options.logDirectory, 'ray.log');
  const server = await startServer({
    command: options.python,
    args: [
      ...RAY,
      ...startArguments({ port, clientPort, agentPort, temporary, storeBytes: await objectStoreBytes() }),
    ],
    logFile,
    environment,
    guard,
  }).catch(async (error: Error) => {
    await removeTemporary();
    throw error;
  });
  const stop = async (): Promise<void> => {
    await server.stop(10_000);
    await removeTemporary();
  };
  try {
    const probe = async () => ((await listens(port)) && (await listens(clientPort)) ? true : undefined);
    await waitUntilReady({ server, logFile, timeoutMs: 60_000, what: 'Ray', probe });
  } catch (error) {
    await stop();
    throw error;
  }
  environment.RAY_ADDRESS = `127.0.0.1:${port}`;
  return {
    address: `127.0.0.1:${port}`,
    token,
    clientAddress: `127.0.0.1:${clientPort}`,
    environment,
    server,
    stop,
  };
}

function environmentOf(token: string, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...THREAD_SAVERS,
    ...environment,
    RAY_AUTH_MODE: 'token',
    RAY_AUTH_TOKEN: token,
    RAY_USAGE_STATS_ENABLED: '0',
    // There is no other node to move work to: draining would only delay the end.
    RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S: '0',
    // By default Ray runs what it starts at niceness 15, which starves rollouts on a machine that does other things.
    RAY_worker_niceness: '0',
  };
}

/**
 * Hundreds of environment actors count against the limit of tasks of a machine, and each has dozens of threads at Ray's
 * defaults. A variable of the user's own wins.
 */
const THREAD_SAVERS = {
  RAY_num_server_call_thread: '1',
  RAY_num_grpc_internal_threads: '1',
  RAY_object_manager_rpc_threads_num: '1',
  RAY_num_prestart_python_workers: '4',
  RAY_event_stats: '0',
};

/** Ray gives its own processes ports of this range, and refuses a head that listens there. */
const RAY_RANGE = { from: 10_002, to: 19_999 };

async function headPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port < RAY_RANGE.from || port > RAY_RANGE.to) return port;
  }
}

const MIN_STORE_BYTES = 200_000_000;

/**
 * Bytes of Ray's object store: 30 % of the memory that is free, at most 90 % of what /dev/shm has left, since Ray moves the
 * store to the disk where that is smaller. One batch of HGPO takes about 1 GB of it.
 */
export async function objectStoreBytes(freeMemory = process.availableMemory()): Promise<number> {
  const shared = await statfs('/dev/shm').catch(() => undefined);
  const place = shared === undefined ? Number.POSITIVE_INFINITY : shared.bavail * shared.bsize;
  return Math.max(MIN_STORE_BYTES, Math.floor(Math.min(0.3 * freeMemory, 0.9 * place)));
}

function startArguments(at: {
  port: number;
  clientPort: number;
  agentPort: number;
  temporary: string;
  storeBytes: number;
}): string[] {
  return [
    ...['start', '--head', '--block', '--node-ip-address=127.0.0.1', `--port=${at.port}`],
    ...[`--ray-client-server-port=${at.clientPort}`, `--dashboard-agent-listen-port=${at.agentPort}`],
    ...[`--num-cpus=${Math.max(2, cpus().length)}`, '--include-dashboard=false', '--disable-usage-stats'],
    ...[`--object-store-memory=${at.storeBytes}`, `--temp-dir=${at.temporary}`],
  ];
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
