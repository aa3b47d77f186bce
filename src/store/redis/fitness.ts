import type { Redis } from 'ioredis';
import { EchelonError } from '../../core/errors.ts';
import type { StoreContext } from '../context.ts';
import { guarded, toStoreError } from './errors.ts';

/** Required settings of the server, by their names in redis.conf. */
const SETTINGS = [
  { name: 'appendonly', value: 'yes', why: 'otherwise a restart loses accepted experiments' },
  { name: 'appendfsync', value: 'always', why: 'otherwise a power failure loses accepted experiments' },
  {
    name: 'no-appendfsync-on-rewrite',
    value: 'no',
    why: 'otherwise a power failure during a rewrite of the file loses accepted experiments',
  },
  {
    name: 'aof-load-truncated',
    value: 'no',
    why: 'otherwise a later restart runs half of an interrupted write again',
  },
  { name: 'maxmemory-policy', value: 'noeviction', why: 'otherwise a full memory deletes records' },
] as const;

/** The scripts use stream ids `<attempt>-*` and the flag `allow-oom`, which Redis has since 7.0. */
const MIN_VERSION = [7, 0] as const;

/** Checks of the server's settings. */
export function createFitness({ redis }: StoreContext) {
  return {
    /** Checks persistence settings; throws EchelonError `store-misconfigured` naming each missing setting and its remedy. */
    async checkFitness(): Promise<void> {
      const faults = [...(await kindFaults(redis)), ...(await settingFaults(redis))];
      if (faults.length === 0) return;
      throw new EchelonError(
        'store-misconfigured',
        `The Redis server is not set up to keep what it accepts: ${faults.join('; ')}.`,
      );
    },
  };
}

/** Why this is not a server that Echelon can use, whatever its settings are. */
async function kindFaults(redis: Redis): Promise<string[]> {
  const [info, replication] = await Promise.all([
    guarded(redis.info('server')),
    guarded(redis.info('replication')),
  ]);
  const faults: string[] = [];
  // Valkey calls it server_mode.
  if (/^(?:redis|server)_mode:cluster/m.test(info))
    faults.push(
      'it runs in cluster mode, which Echelon does not support; use one primary with "cluster-enabled no"',
    );
  if (/^role:slave/m.test(replication))
    faults.push('it is a replica, which may lack the newest writes; name the primary in REDIS_URL');
  const version = /redis_version:(\d+)\.(\d+)/.exec(info);
  const [major, minor] = [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0)];
  if (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1]))
    faults.push(`it is Redis ${major}.${minor}; install ${MIN_VERSION.join('.')} or newer`);
  return faults;
}

async function settingFaults(redis: Redis): Promise<string[]> {
  const faults: string[] = [];
  for (const { name, value, why } of SETTINGS) {
    const found = await setting(redis, name);
    if (found === value) continue;
    const line = `put the line "${name} ${value}" into redis.conf, ${why}`;
    faults.push(
      found === undefined
        ? `${name} cannot be read (CONFIG is forbidden); ${line}, and allow CONFIG GET`
        : `${name} is "${found}"; ${line}`,
    );
  }
  if ((await setting(redis, 'maxmemory')) === '0')
    faults.push(
      'maxmemory is "0"; put a line such as "maxmemory 2gb" into redis.conf, otherwise the system ends Redis when memory is full',
    );
  return faults;
}

async function setting(redis: Redis, name: string): Promise<string | undefined> {
  try {
    const reply = await guarded(redis.config('GET', name));
    return (reply as string[])[1];
  } catch (error) {
    // A server that forbids CONFIG answers with an error; other errors are thrown.
    const text = String((toStoreError(error).cause as Error | undefined)?.message ?? '');
    if (/unknown command|NOPERM|unknown subcommand/i.test(text)) return undefined;
    throw error;
  }
}

/** What {@link createPressure} returns. */
export type Pressure = ReturnType<typeof createPressure>;

/** Used memory: `now` asks the server, `recent` may be `pressureMaxAgeMs` old. */
export function createPressure({ redis, limits }: Pick<StoreContext, 'redis' | 'limits'>) {
  let last: { at: number; answer: ReturnType<typeof now> } | undefined;

  async function now(): Promise<
    Record<'usedBytes' | 'maxBytes' | 'projectBytes', number> & { accepting: boolean }
  > {
    const info = await guarded(redis.info('memory'));
    const usedBytes = Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0);
    const maxBytes = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0);
    return {
      usedBytes,
      maxBytes,
      accepting: maxBytes === 0 || usedBytes <= limits.acceptShare * maxBytes,
      projectBytes: Math.floor(limits.projectShare * maxBytes),
    };
  }

  return {
    now,
    recent(): ReturnType<typeof now> {
      const at = performance.now();
      if (!last || at - last.at > limits.pressureMaxAgeMs) {
        const answer = now();
        last = { at, answer };
        answer.catch(() => {
          last = undefined;
        });
      }
      return last.answer;
    },
  };
}
