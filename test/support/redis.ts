import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cutUnfinishedTransaction } from '../../src/cli/local/redis-server.ts';

/** How a private Redis is set up. */
export interface RedisServerOptions {
  /** Default `always`, as the product asks for; `everysec` and `no` where a test is not about durability. */
  appendfsync?: 'always' | 'everysec' | 'no';
  /** More lines of redis.conf, by name; they win over the helper's own. */
  config?: Record<string, string>;
  /** More variables of its environment. */
  env?: Record<string, string>;
}

/** A Redis server of one test: on a free port of 127.0.0.1 and a unix socket, in a directory of its own. */
export interface RedisServer {
  readonly host: '127.0.0.1';
  readonly port: number;
  readonly url: string;
  readonly socket: string;
  readonly dir: string;
  pid(): number;
  /** Resolves when the present process has ended, however that happened. */
  ended(): Promise<void>;
  /** Ends the server by a signal (default SIGKILL) and waits until it is gone; the directory stays. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same directory and port, and waits until it answers. */
  start(): Promise<void>;
  /** {@link kill}, then {@link start}. */
  restart(signal?: NodeJS.Signals): Promise<void>;
  /** SIGSTOP and SIGCONT: the server hangs without a word. */
  freeze(): void;
  thaw(): void;
  /** Ends the server and removes its directory. May be repeated. */
  stop(): Promise<void>;
}

const START_DEADLINE_MS = 20_000;

/**
 * A TCP port that was free a moment ago, below those that the system gives to outgoing connections: a server that is
 * away for a moment finds it free again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

/** Starts a private Redis and waits until it answers. The caller must `stop()` it; see {@link redisFor}. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'echelon-redis-'));
  const socket = join(dir, 'redis.sock');
  let child: ChildProcess | undefined;
  let guard: ChildProcess | undefined;
  let ended = Promise.resolve();
  let port = await freePort();

  async function launch(): Promise<boolean> {
    child = spawn('redis-server', serverArguments({ dir, socket, port, options }), {
      stdio: 'ignore',
      env: { ...process.env, ...options.env },
    });
    ended = new Promise<void>((resolve) => child?.once('exit', () => resolve()));
    child.once('error', () => {});
    if (child.pid === undefined) throw new Error('redis-server is not on PATH');
    guard = guardAgainstOrphans(child.pid, dir);
    const gone = new AbortController();
    void ended.then(() => gone.abort());
    return await answers(socket, gone.signal);
  }

  async function start(): Promise<void> {
    await cutUnfinishedTransaction('redis-server', dir);
    if (!(await launch())) throw new Error(`redis-server ended at its start:\n${await logOf(dir)}`);
  }

  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (child && child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit');
      child.kill(signal);
      if (signal !== 'SIGKILL') child.kill('SIGCONT');
      await exit;
    }
    guard?.kill('SIGKILL');
    guard = undefined;
  }

  let started = await launch();
  for (let tries = 0; !started && tries < 5; tries++) {
    await kill();
    port = await freePort(); // another process may have taken the port in between
    started = await launch();
  }
  if (!started) throw new Error(`redis-server ended at its start:\n${await logOf(dir)}`);

  return {
    host: '127.0.0.1',
    port,
    url: `redis://127.0.0.1:${port}`,
    socket,
    dir,
    pid: () => child?.pid ?? -1,
    ended: () => ended,
    kill,
    start,
    async restart(signal) {
      await kill(signal);
      await start();
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async stop() {
      await kill();
      // A child of the server that rewrites its file outlives it for a moment, and may still write there.
      await rm(dir, { recursive: true, force: true, maxRetries: 50, retryDelay: 20 });
    },
  };
}

/** {@link startRedis}, stopped when the test or suite `scope` is over (`{ after }` of a test context or of node:test). */
export async function redisFor(
  scope: { after(release: () => Promise<void>): void },
  options: RedisServerOptions = {},
): Promise<RedisServer> {
  const server = await startRedis(options);
  scope.after(() => server.stop());
  return server;
}

function serverArguments(setup: {
  dir: string;
  socket: string;
  port: number;
  options: RedisServerOptions;
}): string[] {
  const config: Record<string, string> = {
    port: String(setup.port),
    bind: '127.0.0.1',
    unixsocket: setup.socket,
    dir: setup.dir,
    logfile: join(setup.dir, 'redis.log'),
    daemonize: 'no',
    save: '',
    appendonly: 'yes',
    appendfsync: setup.options.appendfsync ?? 'always',
    'aof-load-truncated': 'no',
    'maxmemory-policy': 'noeviction',
    maxmemory: '16gb',
    // A backup takes a snapshot as a replica: Redis would wait for more replicas first.
    'repl-diskless-sync-delay': '0',
    ...setup.options.config,
  };
  return Object.entries(config).flatMap(([name, value]) => [`--${name}`, value]);
}

/** A shell that waits for our end of its pipe to close, which it does however we end, and then removes the server. */
function guardAgainstOrphans(pid: number, dir: string): ChildProcess {
  const guard = spawn('sh', ['-c', 'read -r _; kill -9 "$0" 2>/dev/null; rm -rf "$1"', String(pid), dir], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  return guard;
}

/** True once the server answers, false if it ended first. */
async function answers(socket: string, gone: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline) {
    if (gone.aborted) return false;
    if ((await ping(socket)).startsWith('+PONG')) return true;
    await pause(10);
  }
  throw new Error('redis-server does not answer');
}

function ping(socket: string): Promise<string> {
  return new Promise((resolve) => {
    const connection = connect(socket);
    connection.setTimeout(1000, () => connection.destroy());
    connection.once('connect', () => connection.write('PING\r\n'));
    connection.once('data', (data) => {
      connection.destroy();
      resolve(data.toString('latin1'));
    });
    connection.once('error', () => resolve(''));
    connection.once('close', () => resolve(''));
  });
}

async function logOf(dir: string): Promise<string> {
  return await readFile(join(dir, 'redis.log'), 'utf8').catch(() => '(no log)');
}
