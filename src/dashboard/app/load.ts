import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Failure, failureOf } from './api.ts';

/** An answer of the API and its state. A repeated request keeps the last data until the new answer is there. */
export interface Loaded<T> {
  data: T | undefined;
  failure: Failure | undefined;
  /** True until the first answer or failure. */
  loading: boolean;
  /** Asks again. */
  reload: () => void;
}

/** Loads what `load` returns; again when a value of `key` changes, forgetting the last data. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, key: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; failure?: Failure }>({ key: '' });
  const [round, setRound] = useState(0);
  const name = JSON.stringify(key);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const stop = new AbortController();
    latest.current(stop.signal).then(
      (data) => !stop.signal.aborted && setState({ key: name, data }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        setState((old) => ({ ...(old.key === name ? old : {}), key: name, failure: failureOf(error) }));
      },
    );
    return () => stop.abort();
  }, [name, round]);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  const current = state.key === name ? state : undefined;
  return {
    data: current?.data,
    failure: current?.failure,
    loading: current === undefined,
    reload,
  };
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

/** Asks again when `tick` rises: something new is known to be there. */
export function useReload({ reload }: Pick<Loaded<unknown>, 'reload'>, tick: number): void {
  useEffect(() => {
    if (tick > 0) reload();
  }, [tick, reload]);
}
