import { deferred } from './deferred.ts';
import { RayTimeoutError } from './errors.ts';

/** How long a caller waits. Every method that waits takes these. */
export interface CallLimits {
  /** Milliseconds after which the method rejects with RayTimeoutError. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Aborting it rejects with its reason. A request that was already sent may still take effect in the cluster. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The value of `start`, unless the time is over or the signal is aborted first: then {@link RayTimeoutError}, or the
 * signal's reason. `start` runs at once, but not if the signal is aborted already. It gets a signal that is aborted with
 * the same error, and undefined if there are no limits. `late` gets the value that arrives afterwards nonetheless.
 */
export async function withLimits<T>(
  start: (signal: AbortSignal | undefined) => Promise<T>,
  { timeoutMs, signal }: CallLimits,
  what: string,
  late?: (value: T) => void,
): Promise<T> {
  signal?.throwIfAborted();
  if (timeoutMs === undefined && signal === undefined) return start(undefined);
  const stop = new AbortController();
  const { promise: stopped, reject } = deferred<never>();
  const end = (reason: unknown): void => {
    stop.abort(reason);
    reject(reason);
  };
  const abort = (): void => end(signal?.reason);
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => end(new RayTimeoutError(what, timeoutMs)), timeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  const started = start(stop.signal);
  try {
    return await Promise.race([started, stopped]);
  } catch (error) {
    if (late !== undefined && stop.signal.aborted) started.then(late, () => {});
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
