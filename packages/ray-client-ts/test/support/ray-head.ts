import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createChannel } from '../../src/channel.ts';
import type { RayCredentials, TlsOptions } from '../../src/credentials.ts';

const START_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 20_000;
const TURN_TIMEOUT_MS = 600_000;
/** The process that listens here has the turn. Below the ports that heads and sessions use. */
const TURN_PORT = 19_999;

/** What a test wants of its head. */
export interface RayHeadOptions {
  /** With token authentication; on unless false. */
  readonly token?: boolean;
  /** With mutual TLS, on certificates made for this head. */
  readonly tls?: boolean;
  readonly numCpus?: number;
  readonly numGpus?: number;
  /** Further nodes, on the same machine. */
  readonly nodes?: readonly FurtherNode[];
  /** Folders from which the cluster can import. */
  readonly pythonPath?: readonly string[];
}

/** A node beside the head. */
export interface FurtherNode {
  readonly cpus: number;
  /** Default: none. */
  readonly gpus?: number;
  /** A loopback address of its own, by which Ray tells nodes apart. Default: the head's. */
  readonly address?: string;
  /** In the form of `ray start --labels`: `name=value,name=value`. Default: none. */
  readonly labels?: string;
}

/** A Ray head, of one node unless there are further ones, alive until disposed of. */
export interface RayHead extends AsyncDisposable {
  /** `ray://127.0.0.1:port`. */
  readonly address: string;
  readonly port: number;
  readonly credentials: RayCredentials;
  /** The environment in which Python programs talk to this head. */
  readonly environment: Readonly<Record<string, string>>;
  /** kill -9 of everything that belongs to the head. */
  kill(): Promise<void>;
  /** kill -9 of the raylet of the node with this address. */
  killRaylet(address: string): void;
}

/** The interpreter that tests run Ray with: RAY_PYTHON, else the one of the repository. */
export function rayPython(): string {
  return resolve(process.env.RAY_PYTHON ?? process.env.ECHELON_PYTHON ?? '.venv/bin/python');
}

/**
 * Starts a head. Tests that do so run inside a network namespace with nothing but loopback: Ray binds to
 * whatever it finds.
 */
export async function startRayHead(options: RayHeadOptions = {}): Promise<RayHead> {
  const turn = await takeTurn();
  try {
    return await startInTurn(options, turn);
  } catch (error) {
    turn.end();
    throw error;
  }
}

/** A head of 8 CPUs and a GPU, with the modules of packages/ray-client-ts/test/with-ray/python. */
export const ONE_NODE: RayHeadOptions = {
  pythonPath: ['packages/ray-client-ts/test/with-ray/python'],
  numCpus: 8,
};

async function startInTurn(options: RayHeadOptions, turn: Turn): Promise<RayHead> {
  const directory = mkdtempSync('/tmp/rh-');
  const mark = directory;
  const port = await freePort(20_000, 22_900);
  const token = options.token === false ? undefined : randomBytes(24).toString('hex');
  const tls = options.tls === true ? makeCertificates(directory) : undefined;
  const environment = rayEnvironment({ token, tls, pythonPath: options.pythonPath ?? [] });
  const output: Buffer[] = [];
  const ray = (args: readonly string[]): Promise<void> => {
    const child = spawn(rayPython(), ['-m', 'ray.scripts.scripts', 'start', '--block', ...args], {
      env: { ...process.env, ...environment, ECHELON_RAY_HEAD: mark },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
    return new Promise<void>((done) => child.once('exit', () => done()));
  };
  const gcsPort = await freePort(30_000, 32_000);
  const ended = ray(await headArguments({ directory, port, gcsPort }, options));
  const kill = async (): Promise<void> => {
    await endMarked(mark);
    await ended;
  };
  const credentials: RayCredentials = {
    ...(token === undefined ? {} : { token }),
    ...(tls === undefined ? {} : { tls: tls.options }),
  };
  try {
    await untilAnswering(`127.0.0.1:${port}`, credentials, ended);
  } catch (error) {
    await kill();
    throw new Error(`Ray did not start:\n${Buffer.concat(output)}`, { cause: error });
  }
  for (const node of options.nodes ?? []) {
    // One after the other: two that start at once may choose the same names for their sockets.
    const seen = output.length;
    void ray(await nodeArguments(gcsPort, node));
    await untilPrinted('runtime started', () => Buffer.concat(output.slice(seen)), kill);
  }
  return {
    address: `ray://127.0.0.1:${port}`,
    port,
    credentials,
    environment,
    kill,
    killRaylet(node) {
      const killed = killMarked(mark, ['/raylet/raylet', `--node_ip_address=${node}`]);
      if (killed !== 1) throw new Error(`${killed} raylets have the address ${node}`);
    },
    [Symbol.asyncDispose]: async () => {
      await kill();
      rmSync(directory, { recursive: true, force: true });
      turn.end();
    },
  };
}

interface Turn {
  end(): void;
}

/** The server that holds the turn of this process, shared by all its heads. */
let turnHolder: { readonly server: Promise<Server>; heads: number } | undefined;

/**
 * One process at a time has heads in a network namespace. Each head gives its sessions' processes ports from 23000
 * on: it looks whether a port is free, and the process listens there only a second later, with SO_REUSEPORT. Two heads
 * that start sessions at the same time may thus share a port, and each would get half of the other's connections.
 * A listening port is the lock: it belongs to the namespace, and ends with its process.
 */
async function takeTurn(): Promise<Turn> {
  turnHolder ??= { server: holdTurn(), heads: 0 };
  const holder = turnHolder;
  holder.heads++;
  const end = (): void => {
    if (--holder.heads > 0) return;
    if (turnHolder === holder) turnHolder = undefined;
    holder.server.then((server) => server.close()).catch(() => {});
  };
  try {
    await holder.server;
  } catch (error) {
    end();
    throw error;
  }
  return { end };
}

async function holdTurn(): Promise<Server> {
  const deadline = Date.now() + TURN_TIMEOUT_MS;
  for (;;) {
    const server = createServer().unref();
    const held = await new Promise<boolean>((done) => {
      server.once('error', () => done(false));
      server.listen(TURN_PORT, '127.0.0.1', () => done(true));
    });
    if (held) return server;
    if (Date.now() > deadline) throw new Error('another process has had heads here for too long');
    await sleep(100);
  }
}

interface HeadPlace {
  readonly directory: string;
  readonly port: number;
  readonly gcsPort: number;
}

/** Several nodes may run at once in a namespace: no fixed ports. */
async function commonArguments(address = '127.0.0.1'): Promise<string[]> {
  return [
    `--node-ip-address=${address}`,
    '--min-worker-port=0',
    '--max-worker-port=0',
    `--dashboard-agent-listen-port=${await freePort(52_000, 53_000)}`,
  ];
}

async function nodeArguments(
  gcsPort: number,
  { cpus, gpus = 0, address, labels }: FurtherNode,
): Promise<string[]> {
  return [
    `--address=127.0.0.1:${gcsPort}`,
    ...(await commonArguments(address)),
    '--disable-usage-stats',
    '--object-store-memory=100000000',
    `--num-cpus=${cpus}`,
    `--num-gpus=${gpus}`,
    ...(labels === undefined ? [] : [`--labels=${labels}`]),
  ];
}

async function headArguments(
  { directory, port, gcsPort }: HeadPlace,
  options: RayHeadOptions,
): Promise<string[]> {
  return [
    '--head',
    `--port=${gcsPort}`,
    `--ray-client-server-port=${port}`,
    ...(await commonArguments()),
    '--include-dashboard=false',
    '--disable-usage-stats',
    `--temp-dir=${directory}`,
    '--object-store-memory=250000000',
    `--num-cpus=${options.numCpus ?? 2}`,
    `--num-gpus=${options.numGpus ?? 1}`,
  ];
}

interface Certificates {
  readonly options: TlsOptions;
  readonly paths: { readonly ca: string; readonly cert: string; readonly key: string };
}

function rayEnvironment({
  token,
  tls,
  pythonPath,
}: {
  token: string | undefined;
  tls: Certificates | undefined;
  pythonPath: readonly string[];
}): Record<string, string> {
  return {
    RAY_USAGE_STATS_ENABLED: '0',
    // No process is started in advance: most tests have a runtime environment, which such a process lacks.
    RAY_prestart_worker_first_driver: '0',
    RAY_enable_worker_prestart: '0',
    ...(token === undefined
      ? { RAY_AUTH_MODE: 'disabled' }
      : { RAY_AUTH_MODE: 'token', RAY_AUTH_TOKEN: token }),
    ...(tls === undefined
      ? {}
      : {
          RAY_USE_TLS: '1',
          RAY_TLS_CA_CERT: tls.paths.ca,
          RAY_TLS_SERVER_CERT: tls.paths.cert,
          RAY_TLS_SERVER_KEY: tls.paths.key,
        }),
    ...(pythonPath.length === 0
      ? {}
      : { PYTHONPATH: pythonPath.map((path) => resolve(path)).join(delimiter) }),
  };
}

/** An authority and one certificate for 127.0.0.1, both sides' alike, as Ray has it. */
function makeCertificates(directory: string): Certificates {
  const at = (name: string): string => join(directory, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...ec,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-subj',
    '/CN=test-ca',
    '-days',
    '2',
  );
  openssl('req', ...ec, '-keyout', at('node.key'), '-out', at('node.csr'), '-subj', '/CN=node');
  writeFileSync(at('names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const sign = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2'];
  openssl('x509', '-req', '-in', at('node.csr'), ...sign, '-extfile', at('names'), '-out', at('node.pem'));
  const paths = { ca: at('ca.pem'), cert: at('node.pem'), key: at('node.key') };
  const pem = (path: string): string => readFileSync(path, 'utf8');
  return { paths, options: { ca: pem(paths.ca), cert: pem(paths.cert), key: pem(paths.key) } };
}

async function untilAnswering(
  address: string,
  credentials: RayCredentials,
  ended: Promise<void>,
): Promise<void> {
  const channel = createChannel({ address, token: credentials.token, tls: credentials.tls });
  const over = ended.then(() => {
    throw new Error('it ended');
  });
  try {
    await Promise.race([channel.waitUntilAnswering(START_TIMEOUT_MS), over]);
  } finally {
    over.catch(() => {});
    channel.close();
  }
}

async function untilPrinted(text: string, output: () => Buffer, giveUp: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!output().includes(text)) {
    if (Date.now() > deadline) {
      await giveUp();
      throw new Error(`a node of Ray did not start:\n${output()}`);
    }
    await sleep(20);
  }
}

async function endMarked(mark: string): Promise<void> {
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (killMarked(mark) > 0) {
    if (Date.now() > deadline) throw new Error(`processes of Ray do not end: ${markedPids(mark).join(', ')}`);
    await sleep(20);
  }
}

/** Sends SIGKILL to the head's processes with these parts in their command lines; returns how many there were. */
function killMarked(mark: string, parts: readonly string[] = []): number {
  const pids = markedPids(mark).filter((pid) => {
    const command = partOf(pid, 'cmdline');
    return parts.every((part) => command.includes(part));
  });
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
  return pids.length;
}

/**
 * Everything started for one head carries its mark, the head's directory, in the environment. Agents of Ray write their title over
 * that, but have its logs open.
 */
function markedPids(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => partOf(pid, 'environ').includes(`ECHELON_RAY_HEAD=${mark}`) || isAgentBelow(pid, mark));
}

function isAgentBelow(pid: number, directory: string): boolean {
  if (!partOf(pid, 'cmdline').startsWith('ray::')) return false;
  try {
    const files = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    return files.some((file) => file.startsWith(`${directory}/`));
  } catch {
    return false; // it has ended, or closed a file meanwhile
  }
}

/** What /proc says of a process; empty if it is gone. */
function partOf(pid: number, name: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

async function freePort(from: number, to: number): Promise<number> {
  for (;;) {
    const port = from + Math.floor(Math.random() * (to - from));
    const free = await new Promise<boolean>((done) => {
      const server = createServer();
      server.once('error', () => done(false));
      server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
    });
    if (free) return port;
  }
}
