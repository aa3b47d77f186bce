import { EchelonError } from '../../core/errors.ts';
import type { Store } from '../store.ts';
import type { StoreContext } from './context.ts';
import { guarded, toStoreError } from './errors.ts';

/** Required settings of the server, by their names in redis.conf. */
const SETTINGS = [
  { name: 'appendonly', value: 'yes', why: 'otherwise a restart loses accepted experiments' },
  { name: 'appendfsync', value: 'always', why: 'otherwise a power failure loses accepted experiments' },
  {
    name: 'aof-load-truncated',
    value: 'no',
    why: 'otherwise a later restart runs half of an interrupted write again',
  },
  { name: 'maxmemory-policy', value: 'noeviction', why: 'otherwise a full memory deletes records' },
] as const;

/** The scripts use stream ids `<attempt>-*` and the flag `allow-oom`, which Redis has since 7.0. */
const MIN_VERSION = [7, 0] as const;

/** Checks of the server's settings, and the id of the archive. */
export function createFitness(
  context: StoreContext,
): Pick<Store, 'checkFitness' | 'archiveId' | 'claimArchiveId'> {
  const { redis, keys } = context;

  async function setting(name: string): Promise<string | undefined> {
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

  return {
    archiveId: () => guarded(redis.get(keys.archiveId)),

    async claimArchiveId(id) {
      await guarded(redis.set(keys.archiveId, id, 'NX'));
      return (await guarded(redis.get(keys.archiveId))) ?? id;
    },

    async checkFitness() {
      const faults: string[] = [];
      const info = await guarded(redis.info('server'));
      const version = /redis_version:(\d+)\.(\d+)/.exec(info);
      if (/^redis_mode:cluster/m.test(info))
        faults.push(
          'it runs in cluster mode, which Echelon does not support; use one primary with "cluster-enabled no"',
        );
      const [major, minor] = [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0)];
      if (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1])) {
        faults.push(`it is Redis ${major}.${minor}; install ${MIN_VERSION.join('.')} or newer`);
      }
      for (const { name, value, why } of SETTINGS) {
        const found = await setting(name);
        if (found === value) continue;
        const line = `put the line "${name} ${value}" into redis.conf, ${why}`;
        faults.push(
          found === undefined
            ? `${name} cannot be read (CONFIG is forbidden); ${line}, and allow CONFIG GET`
            : `${name} is "${found}"; ${line}`,
        );
      }
      if (faults.length === 0) return;
      throw new EchelonError(
        'store-misconfigured',
        `The Redis server is not set up to keep what it accepts: ${faults.join('; ')}.`,
      );
    },
  };
}

/** Used memory: `now` asks the server, `recent` may be `pressureMaxAgeMs` old. */
export function createPressure(context: Pick<StoreContext, 'redis' | 'limits'>): {
  now: Store['pressure'];
  recent: Store['pressure'];
} {
  const { redis, limits } = context;
  let last: { at: number; answer: ReturnType<Store['pressure']> } | undefined;

  async function now(): ReturnType<Store['pressure']> {
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
    recent() {
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
