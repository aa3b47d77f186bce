import type { Answer, Input, PathOf } from 'echelon-client/calls';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { api, type Failure, failureOf } from './api.ts';
import { createAsker } from './asker.ts';
import { now } from './server-clock.ts';

/** An answer of the API and its state. A repeated request keeps the last data until the new answer is there. */
export interface Resource<T> {
  data: T | undefined;
  failure: Failure | undefined;
  /** When the data came, in ms since 1970. */
  at?: number | undefined;
  /** True until the first answer or failure. */
  loading: boolean;
  /** Asks again, after the answer to the request under way. */
  reload: () => void;
}

/** The waits before what failed for a moment is asked for again, in ms; the last one repeats. */
const AGAIN_MS = [2000, 4000, 8000, 15_000];

/**
 * Loads what `load` returns, from the data that is already there, and again when `tick` rises: something new is known to be
 * there. What fails for a moment is asked for again by itself. When a value of `key` changes, it forgets the last data, aborts the request under way and loads again.
 */
export function useResource<T>(
  load: (signal: AbortSignal, last: T | undefined) => Promise<T>,
  key: readonly unknown[],
  tick = 0,
): Resource<T> {
  const [state, setState] = useState<{ key: string; data?: T; at?: number; failure?: Failure }>({ key: '' });
  const name = JSON.stringify(key);
  const latest = useRef(load);
  latest.current = load;
  const asker = useRef<ReturnType<typeof createAsker>>(undefined);
  useEffect(() => {
    let last: T | undefined;
    let [failures, timer] = [0, 0];
    const own = createAsker((signal) => latest.current(signal, last), {
      data(data) {
        last = data;
        failures = 0;
        clearTimeout(timer);
        setState({ key: name, data, at: now() });
      },
      failure(error) {
        const failure = failureOf(error);
        setState((old) => ({ ...(old.key === name ? old : {}), key: name, failure }));
        clearTimeout(timer);
        if (!failure.isTransient) return;
        const wait = AGAIN_MS[Math.min(failures++, AGAIN_MS.length - 1)]!;
        timer = setTimeout(own.ask, wait) as unknown as number;
      },
    });
    asker.current = own;
    own.ask();
    return () => {
      clearTimeout(timer);
      own.stop();
    };
  }, [name]);
  const reload = useCallback(() => asker.current?.ask(), []);
  useEffect(() => {
    if (tick > 0) reload();
  }, [tick]);
  const current = state.key === name ? state : undefined;
  return {
    data: current?.data,
    at: current?.at,
    failure: current?.failure,
    loading: current === undefined,
    reload,
  };
}

/** The answer to a GET; its path and input are the key. */
export function useGet<P extends PathOf<'get'>>(
  path: P,
  input: Omit<Input<'get', P>, 'signal'>,
  tick = 0,
): Resource<Answer<'get', P>> {
  return useResource((signal) => api.get(path, { ...input, signal } as never), [path, input], tick);
}

/** Passes after `ms`, for a `load` that waits until its key rests; fails when the key changes before. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Calls `act` each `everyMs` while the page is visible and `active`, and when it becomes visible again. */
export function usePolling(act: () => void, everyMs: number, active = true): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!active) return undefined;
    const look = () => document.visibilityState === 'visible' && latest.current();
    const timer = setInterval(look, everyMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [everyMs, active]);
}
