import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RedisServerOptions } from './redis.ts';
import type { Scope } from './store.ts';

/** The wall clock of one Redis; its steady clocks stay as they are. */
export interface RedisClock {
  /** Options for the Redis that is to use it. */
  readonly redis: RedisServerOptions;
  /** Sets it that much after the machine's clock; negative: before. */
  shift(ms: number): Promise<void>;
}

/** A {@link RedisClock} that is right; it needs a C compiler. */
export async function redisClockFor(scope: Scope): Promise<RedisClock> {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-clock-'));
  const [library, file] = [join(directory, 'clock.so'), join(directory, 'offset')];
  const source = join(import.meta.dirname, 'redis-clock.c');
  await promisify(execFile)('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl']);
  const offset = await open(file, 'w+');
  const shift = async (ms: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(ms));
    await offset.write(bytes, 0, 8, 0);
  };
  await shift(0);
  scope.after(async () => {
    await offset.close();
    await rm(directory, { recursive: true });
  });
  return { redis: { env: { LD_PRELOAD: library, ECHELON_CLOCK: file } }, shift };
}
