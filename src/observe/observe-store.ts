import type { Metrics } from './metrics.ts';
import type { Signal } from './work-counters.ts';

/** What of a store is counted; its own types stay as they are. */
interface Observable {
  claim(...args: never[]): Promise<{ outcome: string }>;
  takeOver(...args: never[]): Promise<readonly unknown[]>;
  append(...args: never[]): Promise<number>;
  end(...args: never[]): Promise<string>;
  report(...args: never[]): Promise<boolean>;
  advanceRules(
    ...args: never[]
  ): Promise<{ outcome: string; recorded?: readonly string[]; stopped?: boolean }>;
}

interface Numbered {
  event: { type: string; what?: string; rows?: number };
}

/** Rows that were dropped at their source, as events say. */
function droppedRows(events: readonly Numbered[]): number {
  const gaps = events.filter(({ event }) => event.type === 'gap' && event.what === 'batch');
  return gaps.reduce((rows, { event }) => rows + (event.rows ?? 0), 0);
}

/** A report, as far as it says whether its batch could teach anything. */
interface Diagnosed {
  rows: number;
  unverifiable: number;
  diagnosis?: { zero: { rows: number } };
}

/** A batch has signal where the true advantage of a row is not 0; what was not recomputed is not known. */
function signalOf({ rows, unverifiable, diagnosis }: Diagnosed): Signal {
  if (diagnosis === undefined) return 'unknown';
  if (diagnosis.zero.rows < rows - unverifiable) return 'with';
  return unverifiable > 0 ? 'unknown' : 'without';
}

/** The same store, its work counted in `metrics`. Events that were recorded before are counted again. */
export function observeStore<S extends Observable>(
  store: S,
  metrics: Pick<Metrics, 'claimed' | 'takenOver' | 'appended' | 'ended' | 'reported' | 'spent' | 'ruled'>,
): S {
  const counted: Observable = {
    async claim(...args) {
      const claim = await store.claim(...args);
      if (claim.outcome === 'claimed') metrics.claimed();
      return claim;
    },
    async takeOver(...args) {
      const taken = await store.takeOver(...args);
      metrics.takenOver(taken.length);
      return taken;
    },
    async append(...args) {
      const events = args[1] as unknown as readonly Numbered[];
      const started = performance.now();
      const done = (ok: boolean) =>
        metrics.appended({
          seconds: (performance.now() - started) / 1000,
          events: events.length,
          droppedRows: droppedRows(events),
          ok,
        });
      try {
        const last = await store.append(...args);
        done(true);
        return last;
      } catch (error) {
        done(false);
        throw error;
      }
    },
    async end(...args) {
      const to = await store.end(...args);
      metrics.ended(to);
      return to;
    },
    async report(...args) {
      const first = await store.report(...args);
      if (!first) return first;
      metrics.reported(args[1] as unknown as Parameters<Metrics['reported']>[0]);
      const [{ gpuMs }, , report] = args as unknown as [{ gpuMs: number }, unknown, Diagnosed];
      metrics.spent({ gpuSeconds: gpuMs / 1000, signal: signalOf(report) });
      return first;
    },
    async advanceRules(...args) {
      const done = await store.advanceRules(...args);
      const { fired } = args[0] as unknown as { fired: readonly { rule: string; do: string }[] };
      const actions = fired.filter(({ rule }) => done.recorded?.includes(rule)).map((one) => one.do);
      metrics.ruled({ actions, stopped: done.stopped === true });
      return done;
    },
  };
  return { ...store, ...counted };
}
