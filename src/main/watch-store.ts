import { EchelonError } from '../core/errors.ts';
import type { Log } from '../dispatch/log.ts';
import { foreignStore } from '../store/redis/errors.ts';
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
  installation,
  allowUnfit,
  log,
  everyMs = EVERY_MS,
}: {
  store: Store;
  connection: { on(event: 'ready', listener: () => void): unknown };
  installation: string;
  allowUnfit: boolean;
  log: Pick<Log, 'info' | 'error'>;
  everyMs?: number;
}): StoreWatch {
  let fault: EchelonError | null = null;

  async function find(): Promise<EchelonError | null> {
    try {
      if ((await store.installation()) !== installation) return foreignStore();
      if (!allowUnfit) await store.checkFitness();
      return null;
    } catch (error) {
      if (error instanceof EchelonError && error.code === 'store-misconfigured') return error;
      return fault; // Redis does not answer: what is known still holds
    }
  }

  async function check(): Promise<void> {
    const found = await find();
    if (found !== null && found.message !== fault?.message) log.error({ err: found }, 'Redis is refused');
    if (found === null && fault !== null) log.info({}, 'Redis is accepted again');
    fault = found;
  }

  const timer = setInterval(() => void check(), everyMs).unref();
  connection.on('ready', () => void check());
  return { fault: () => fault, stop: () => clearInterval(timer) };
}
