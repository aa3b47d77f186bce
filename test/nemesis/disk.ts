import { execFile } from 'node:child_process';
import { type FileHandle, mkdtemp, open, readdir, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RedisServerOptions } from '../support/redis.ts';

const SOURCE = join(import.meta.dirname, 'disk.c');
const CONTROL_BYTES = 4096;
const LOADED_AT = 32;
const SYNCS_AT = 40;
const SYNCED_AT = 64;

/** The disk of one Redis, whose faults the campaign decides. */
export interface Disk {
  /** Why it has no faults on this machine. */
  readonly missing: string | undefined;
  /** Options for the Redis that is to use it. */
  readonly redis: RedisServerOptions;
  /** Each sync takes this much longer. */
  slow(ms: number): Promise<void>;
  /** Writes fail with ENOSPC. */
  fill(): Promise<void>;
  /** Syncs fail with EIO. */
  breakSync(): Promise<void>;
  heal(): Promise<void>;
  /** How often the append-only file of the Redis was synced. */
  syncs(): Promise<number>;
  /** After the Redis with this directory was killed: removes from its append-only file what was never synced. */
  losePower(directory: string): Promise<void>;
  stop(): Promise<void>;
}

/** A {@link Disk} without a fault. The caller must `stop()` it. */
export async function createDisk(): Promise<Disk> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-disk-'));
  const [library, controlFile] = [join(directory, 'disk.so'), join(directory, 'control')];
  const control = await open(controlFile, 'w+');
  await control.truncate(CONTROL_BYTES);
  const env = { LD_PRELOAD: library, ECHELON_DISK: controlFile };
  const missing = await preload(control, env);
  const set = async (fault: string) => void (await control.write(fault.padEnd(16, '\0'), 0));

  return {
    missing,
    redis: missing === undefined ? { env } : {},
    slow: (ms) => set(`s${ms}`),
    fill: () => set('f'),
    breakSync: () => set('b'),
    heal: () => set(''),
    async syncs() {
      const { buffer } = await control.read(Buffer.alloc(8), { position: SYNCS_AT });
      return Number(buffer.readBigUInt64LE(0));
    },
    async losePower(redisDirectory) {
      const folder = join(redisDirectory, 'appendonlydir');
      // A snapshot beside them may have the inode of a log that a rewrite removed.
      const logs = (await readdir(folder)).filter((name) => name.endsWith('.incr.aof'));
      for (const name of logs) {
        const { ino, size } = await stat(join(folder, name), { bigint: true });
        const position = SYNCED_AT + 16 * Number(ino % 100n);
        const { buffer } = await control.read(Buffer.alloc(16), { position });
        const length = buffer.readBigUInt64LE(8);
        if (buffer.readBigUInt64LE(0) === ino && size > length) {
          await truncate(join(folder, name), Number(length));
        }
      }
    },
    async stop() {
      await control.close();
      await rm(directory, { recursive: true });
    },
  };
}

/** Compiles the library and tries it. Undefined, or why it cannot be used here. */
async function preload(control: FileHandle, env: { LD_PRELOAD: string }): Promise<string | undefined> {
  const run = promisify(execFile);
  try {
    await run('cc', ['-shared', '-fPIC', '-O1', '-o', env.LD_PRELOAD, SOURCE, '-ldl']);
  } catch {
    return 'there is no C compiler for Linux';
  }
  await run('redis-server', ['--version'], { env: { ...process.env, ...env } }).catch(() => {});
  const { buffer } = await control.read(Buffer.alloc(1), { position: LOADED_AT });
  return buffer[0] === 1 ? undefined : 'no library can be preloaded into this Redis';
}
