import { type Decorators, decorate } from '../core/decorate.ts';
import type { Metrics } from './metrics.ts';
import type { Signal } from './work-counters.ts';

/** What of a store is counted, as far as that needs to be known. */
interface Observable {
  attempts: {
    acquire(attempt: never): Promise<{ outcome: string }>;
    takeOver(by: never): Promise<readonly unknown[]>;
    end(lease: never, end: never): Promise<string>;
  };
  events: { append(lease: never, events: readonly Numbered[]): Promise<number> };
  batches: { report(record: Spent, event: Reported, report: Diagnosed): Promise<string> };
  rules: {
    advance(advance: Advance): Promise<{ outcome: string; recorded?: readonly string[]; stopped?: boolean }>;
  };
}

/** A report as it is counted. */
type Reported = Parameters<Metrics['reported']>[0];

interface Spent {
  gpuMs: number;
}

interface Advance {
  fired: readonly { rule: string; do: string }[];
}

interface Numbered {
  event: { type: string; kind?: string; rows?: number };
}

/** Rows that were dropped at their source, as events say. */
function droppedRows(events: readonly Numbered[]): number {
  const gaps = events.filter(({ event }) => event.type === 'gap' && event.kind === 'batch');
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
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one object: it says of each method what is counted
export function observeStore<S extends Observable>(
  store: S,
  metrics: Pick<Metrics, 'claimed' | 'takenOver' | 'appended' | 'ended' | 'reported' | 'spent' | 'ruled'>,
): S {
  const counted: Decorators<Observable> = {
    attempts: {
      async acquire(call) {
        const acquired = await call();
        if (acquired.outcome === 'acquired') metrics.claimed();
        return acquired;
      },
      async takeOver(call) {
        const taken = await call();
        metrics.takenOver(taken.length);
        return taken;
      },
      async end(call) {
        const to = await call();
        metrics.ended(to);
        return to;
      },
    },
    events: {
      async append(call, [, events]) {
        const started = performance.now();
        const done = (ok: boolean) =>
          metrics.appended({
            seconds: (performance.now() - started) / 1000,
            events: events.length,
            droppedRows: droppedRows(events),
            ok,
          });
        try {
          const last = await call();
          done(true);
          return last;
        } catch (error) {
          done(false);
          throw error;
        }
      },
    },
    batches: {
      async report(call, [{ gpuMs }, event, report]) {
        const outcome = await call();
        if (outcome === 'known') return outcome;
        metrics.reported(event);
        // The GPU time of a batch whose report was replaced was counted with the first one.
        if (outcome === 'replaced') return outcome;
        metrics.spent({ gpuSeconds: gpuMs / 1000, signal: signalOf(report) });
        return outcome;
      },
    },
    rules: {
      async advance(call, [{ fired }]) {
        const done = await call();
        const actions = fired.filter(({ rule }) => done.recorded?.includes(rule)).map((one) => one.do);
        metrics.ruled({ actions, stopped: done.stopped === true });
        return done;
      },
    },
  };
  return decorate<S, Observable>(store, counted);
}
