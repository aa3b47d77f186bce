import { EchelonError } from '../core/errors.ts';
import type { Log } from '../dispatch/log.ts';
import { foreignStore } from '../store/redis/errors.ts';
import type { OwnRedis } from '../store/redis/own-redis.ts';
import type { Store } from '../store/store.ts';

const EVERY_MS = 10_000;

/** What a running process knows of its Redis. */
export interface StoreWatch {
  /** Why requests must be refused: the Redis is another one, or may lose what it accepts. */
  fault(): EchelonError | null;
  stop(): void;
}

/**
 * Checks at every reconnect, and now and then, that the Redis is still the one of this installation and keeps what it
 * accepts: an operator may change its settings, and its address may lead to another server.
 */
export function watchStore({
  store,
  connection,
  own,
  installation,
  allowUnfit,
  log,
  everyMs = EVERY_MS,
}: {
  store: Pick<Store, 'checkFitness' | 'installation'>;
  connection: { on(event: 'ready', listener: () => void): unknown };
  /** Absent: connections are not refused. */
  own?: OwnRedis | undefined;
  installation: string;
  allowUnfit: boolean;
  log: Pick<Log, 'info' | 'error'>;
  everyMs?: number;
}): StoreWatch {
  let fault: EchelonError | null = null;

  /** Undefined: Redis does not answer, so that what is known still holds. */
  async function find(): Promise<EchelonError | null | undefined> {
    try {
      if ((await store.installation()) !== installation) {
        // It was emptied: BullMQ has connections that ask for nothing any more.
        own?.renew();
        return foreignStore();
      }
      if (!allowUnfit) await store.checkFitness();
      return null;
    } catch (error) {
      if (error instanceof EchelonError && error.code === 'store-misconfigured') return error;
      if (own?.isForeign()) return foreignStore();
      return undefined;
    }
  }

  let begun = 0;
  let last = 0;

  async function check(): Promise<void> {
    begun += 1;
    const number = begun;
    const found = await find();
    if (found === undefined || number < last) return; // `last`: a later check has ended before
    last = number;
    if (found !== null && found.message !== fault?.message) log.error({ err: found }, 'Redis is refused');
    if (found === null && fault !== null) log.info({}, 'Redis is accepted again');
    fault = found;
  }

  const timer = setInterval(() => void check(), everyMs).unref();
  connection.on('ready', () => void check());
  own?.onForeign(() => {
    if (fault?.code !== 'store-foreign') void check();
  });
  return { fault: () => fault, stop: () => clearInterval(timer) };
}
