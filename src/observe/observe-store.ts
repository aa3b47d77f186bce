import { type Decorators, decorate } from '../core/decorate.ts';
import type { Metrics } from './metrics.ts';
import type { Signal } from './work-counters.ts';

/** The methods of a store whose calls are counted. */
interface Observable {
  attempts: {
    acquire(attempt: never): Promise<{ outcome: string }>;
    takeOver(by: never): Promise<readonly unknown[]>;
    end(lease: never, end: never): Promise<string>;
    preempt(input: never): Promise<number>;
  };
  events: { append(lease: never, events: readonly Numbered[]): Promise<number> };
  batches: { report(record: Spent, event: Reported, report: Diagnosed): Promise<string> };
  rules: {
    advance(advance: Advance): Promise<{ outcome: string; recorded?: readonly string[]; stopped?: boolean }>;
  };
}

/** A counted report. */
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

/** Rows that were dropped at their source, according to gap events. */
function droppedRows(events: readonly Numbered[]): number {
  const gaps = events.filter(({ event }) => event.type === 'gap' && event.kind === 'batch');
  return gaps.reduce((rows, { event }) => rows + (event.rows ?? 0), 0);
}

/** The part of a report that says whether its batch has a training signal. */
interface Diagnosed {
  rows: number;
  unverifiable: number;
  diagnosis?: { zero: { rows: number } };
}

/** A batch has signal if the true advantage of a row is not 0. Rows that were not recomputed are unknown. */
function signalOf({ rows, unverifiable, diagnosis }: Diagnosed): Signal {
  if (diagnosis === undefined) return 'unknown';
  if (diagnosis.zero.rows < rows - unverifiable) return 'with';
  return unverifiable > 0 ? 'unknown' : 'without';
}

type Counters = Pick<
  Metrics,
  'claimed' | 'takenOver' | 'preempted' | 'appended' | 'ended' | 'reported' | 'spent' | 'ruled'
>;

/** The same store, with its work counted in `metrics`. Events that were recorded before are counted again. */
export function observeStore<S extends Observable>(store: S, metrics: Counters): S {
  return decorate<S, Observable>(store, {
    attempts: countAttempts(metrics),
    events: countEvents(metrics),
    batches: countBatches(metrics),
    rules: countRules(metrics),
  });
}

type Counted<K extends keyof Observable> = NonNullable<Decorators<Observable>[K]>;

function countAttempts(metrics: Counters): Counted<'attempts'> {
  return {
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
    async preempt(call) {
      const count = await call();
      metrics.preempted(count);
      return count;
    },
  };
}

function countEvents(metrics: Counters): Counted<'events'> {
  return {
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
  };
}

function countBatches(metrics: Counters): Counted<'batches'> {
  return {
    async report(call, [{ gpuMs }, event, report]) {
      const outcome = await call();
      if (outcome === 'known') return outcome;
      metrics.reported(event);
      // The GPU time of a batch whose report was replaced was counted with the first report.
      if (outcome === 'replaced') return outcome;
      metrics.spent({ gpuSeconds: gpuMs / 1000, signal: signalOf(report) });
      return outcome;
    },
  };
}

function countRules(metrics: Counters): Counted<'rules'> {
  return {
    async advance(call, [{ fired }]) {
      const done = await call();
      const actions = fired.filter(({ rule }) => done.recorded?.includes(rule)).map((one) => one.do);
      metrics.ruled({ actions, stopped: done.stopped === true });
      return done;
    },
  };
}
