import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import type { Guard } from './guard.ts';
import { type ServerProcess, startServer, waitUntilReady } from './processes.ts';

const run = promisify(execFile);

/** Names under which a Redis-compatible server may be installed, in order of preference. */
const REDIS_PROGRAMS = ['redis-server', 'valkey-server'];

/** The first of {@link REDIS_PROGRAMS} that answers, with its version line; undefined if none does. */
export async function findRedisServer(): Promise<{ program: string; version: string } | undefined> {
  for (const program of REDIS_PROGRAMS) {
    const found = await run(program, ['--version']).catch(() => undefined);
    if (found) return { program, version: found.stdout.trim() };
  }
  return undefined;
}

/** A private Redis, reached by a Unix socket that only this user can open. */
interface PrivateRedis {
  socket: string;
  server: ServerProcess;
}

/**
 * Starts a Redis in `directory` that keeps what it accepts: append-only file, fsync before every answer, no
 * eviction. Its data survives and is loaded again at the next start.
 */
export async function startRedis(options: {
  directory: string;
  environment: NodeJS.ProcessEnv;
  guard?: Guard;
}): Promise<PrivateRedis> {
  const { directory, guard, environment } = options;
  const found = await findRedisServer();
  if (!found)
    throw new Error(`no ${REDIS_PROGRAMS.join(' or ')} on PATH; \`npm run setup\` in a checkout brings one`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await cutUnfinishedTransaction(found.program, directory);
  await using resources = new AsyncDisposableStack();
  const socket = join(await socketDirectory(directory, resources, guard), 'redis.sock');
  const logFile = join(directory, 'redis.log');
  const args = [
    ...['--port', '0', '--unixsocket', socket, '--unixsocketperm', '600', '--dir', directory],
    ...['--appendonly', 'yes', '--appendfsync', 'always', '--aof-load-truncated', 'no', '--save', ''],
    ...['--maxmemory', '2gb', '--maxmemory-policy', 'noeviction'],
    // Nearly halves what a waiting experiment takes; see docs/guides/stored-data.md.
    ...['--stream-node-max-bytes', '1024', '--hash-max-listpack-value', '2048'],
  ];
  const server = await startServer({ command: found.program, args, logFile, environment, guard });
  resources.defer(() => server.stop(STOP_MS));
  await waitUntilReady({ server, logFile, timeoutMs: 60_000, what: 'Redis', probe: () => ping(socket) });
  const started = resources.move();
  const stop = async (graceMs: number): Promise<void> => {
    await server.stop(graceMs);
    await started.disposeAsync();
  };
  return { socket, server: { ...server, stop } };
}

/** What a Redis may take to write down what it has. */
const STOP_MS = 10_000;

// A socket's path has about 100 bytes; a deep state directory needs a shorter place.
async function socketDirectory(
  directory: string,
  resources: AsyncDisposableStack,
  guard: Guard | undefined,
): Promise<string> {
  if (Buffer.byteLength(join(directory, 'redis.sock')) <= 100) return directory;
  const path = await mkdtemp(join(tmpdir(), 'echelon-redis-'));
  const forget = guard?.add({ kind: 'remove', path });
  resources.defer(async () => {
    await rm(path, { recursive: true, force: true });
    forget?.();
  });
  return path;
}

async function ping(socket: string): Promise<true | undefined> {
  const redis = new Redis({
    path: socket,
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG' ? true : undefined;
  } finally {
    redis.disconnect();
  }
}

/** What `redis-check-aof` prints for the file that it reads. */
const ANALYZED = /^AOF analyzed: filename=.+, size=(\d+), ok_up_to=(\d+),/m;

/** The files of a manifest that hold commands; the last one is being written. */
const INCREMENTAL = /^file (\S+) seq \d+ type i\b/gm;

/**
 * Cuts a transaction that a crash left unfinished at the end of the append-only file in `directory`, before the server
 * `program` starts. Redis itself keeps the first commands of such a transaction in the file (`aof-load-truncated yes`)
 * and runs them after the next restart, beside the repetition that the client has sent since. Damage that is followed
 * by a whole transaction is left to the operator: a cut would remove acknowledged writes.
 */
export async function cutUnfinishedTransaction(program: string, directory: string): Promise<void> {
  const folder = join(directory, 'appendonlydir');
  const manifest = await readFile(join(folder, 'appendonly.aof.manifest'), 'utf8').catch(() => '');
  const [, name] = [...manifest.matchAll(INCREMENTAL)].at(-1) ?? [];
  if (name === undefined) return;
  const file = join(folder, name);
  const checker = program.replace(/server$/, 'check-aof');
  // The file alone: the checker of Valkey 9 takes the snapshot before it for damage. It ends with exit code 1 if it finds
  // damage; without the program there is no output.
  const { stdout = '' } = await run(checker, [file]).catch((error) => error);
  const [, size, valid] = ANALYZED.exec(String(stdout)) ?? [];
  if (size === valid) return;
  if (!(await readFrom(file, Number(valid))).includes('EXEC\r\n')) await truncate(file, Number(valid));
}

async function readFrom(file: string, offset: number): Promise<Buffer> {
  await using handle = await open(file);
  const bytes = Buffer.alloc((await handle.stat()).size - offset);
  await handle.read(bytes, 0, bytes.length, offset);
  return bytes;
}
