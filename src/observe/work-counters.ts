import { Histogram, type Registry } from 'prom-client';
import { counter } from './instruments.ts';

/** The counted figures of a report. */
interface ReportFigures {
  rows: number;
  exact: number;
  rounding: number;
  wrong: number;
  unverifiable: number;
  errors: readonly string[];
  ok: boolean;
}

/** An answered request. `route`: its pattern, never its path; `stream`: it was an event stream. */
interface AnswerFigures {
  method: string;
  route: string;
  status: number;
  seconds: number;
  stream: boolean;
}

/** An append of events. */
interface AppendFigures {
  seconds: number;
  events: number;
  droppedRows: number;
  ok: boolean;
}

const SIGNALS = ['with', 'without', 'unknown'] as const;
/** Whether a batch has a row whose recomputed advantage is not 0. */
export type Signal = (typeof SIGNALS)[number];

/** Counts the work of this process. */
export type WorkCounters = ReturnType<typeof createWorkCounters>;

// Shown from 0 on: Prometheus sees no increase in a first value.
const ROW_OUTCOMES = ['exact', 'rounding', 'wrong', 'unverifiable'] as const;
const RULE_ACTIONS = ['mark', 'stop', 'stop-at-checkpoint'];

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const APPEND_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const VERIFY_SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60];

/** Creates the counters of this process's work. */
export function createWorkCounters(registry: Registry) {
  return {
    ...countRequests(registry),
    ...countAppends(registry),
    ...countVerification(registry),
    ...countSignal(registry),
    ...countAttempts(registry),
    ...countRules(registry),
  };
}

function countRequests(registry: Registry) {
  const requests = new Histogram({
    name: 'echelon_http_request_duration_seconds',
    help: 'Answered requests, without event streams',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_SECONDS,
    registers: [registry],
  });
  const streams = counter(registry, 'echelon_http_streams_ended_total', 'Event streams that have ended');
  return {
    answered({ method, route, status, seconds, stream }: AnswerFigures): void {
      if (stream) streams.inc();
      else requests.observe({ method, route, status: String(status) }, seconds);
    },
  };
}

function countAppends(registry: Registry) {
  const appends = new Histogram({
    name: 'echelon_append_duration_seconds',
    help: 'Appends of events to streams, until they are on disk',
    labelNames: ['outcome'],
    buckets: APPEND_SECONDS,
    registers: [registry],
  });
  const events = counter(registry, 'echelon_append_events_total', 'Events given to appends that succeeded');
  const dropped = counter(
    registry,
    'echelon_rows_dropped_total',
    'Rows of batches that were dropped at their source (visible gaps)',
  );
  return {
    appended({ seconds, events: count, droppedRows, ok }: AppendFigures): void {
      appends.observe({ outcome: ok ? 'ok' : 'failed' }, seconds);
      if (!ok) return;
      events.inc(count);
      dropped.inc(droppedRows);
    },
  };
}

function countVerification(registry: Registry) {
  const rows = counter(registry, 'echelon_verification_rows_total', 'Rows of reports, by outcome', [
    'outcome',
  ]);
  const batches = counter(registry, 'echelon_verification_batches_total', 'Batch reports, by result', [
    'result',
  ]);
  const findings = counter(registry, 'echelon_verification_errors_total', 'Errors of provenance in reports', [
    'code',
  ]);
  const verifications = new Histogram({
    name: 'echelon_verification_duration_seconds',
    help: 'Verifications of one batch',
    buckets: VERIFY_SECONDS,
    registers: [registry],
  });
  for (const outcome of ROW_OUTCOMES) rows.inc({ outcome }, 0);
  return {
    reported(report: ReportFigures): void {
      for (const outcome of ROW_OUTCOMES) rows.inc({ outcome }, report[outcome]);
      batches.inc({ result: report.ok ? 'ok' : 'not-ok' });
      for (const code of report.errors) findings.inc({ code });
    },
    verified: (seconds: number): void => verifications.observe(seconds),
  };
}

function countSignal(registry: Registry) {
  const spent = counter(
    registry,
    'echelon_gpu_seconds_total',
    'GPU seconds of verified batches, each from the one before it; signal: a true advantage is not 0',
    ['signal'],
  );
  for (const signal of SIGNALS) spent.inc({ signal }, 0);
  return {
    /** GPU time that went into a batch with a report. */
    spent: ({ gpuSeconds, signal }: { gpuSeconds: number; signal: Signal }): void =>
      spent.inc({ signal }, gpuSeconds),
  };
}

function countAttempts(registry: Registry) {
  const claims = counter(registry, 'echelon_attempts_claimed_total', 'Attempts claimed by this dispatcher');
  const takeovers = counter(
    registry,
    'echelon_attempts_taken_over_total',
    'Attempts taken from dispatchers that let their leases expire',
  );
  const ends = counter(registry, 'echelon_attempts_ended_total', 'Attempts ended, by where that led', ['to']);
  const preempted = counter(
    registry,
    'echelon_preemptions_total',
    'Experiments asked to make room for urgent ones',
  );
  return {
    preempted: (experiments: number): void => preempted.inc(experiments),
    claimed: (): void => claims.inc(),
    takenOver: (attempts: number): void => takeovers.inc(attempts),
    ended: (to: string): void => ends.inc({ to }),
  };
}

function countRules(registry: Registry) {
  const rules = counter(registry, 'echelon_rules_fired_total', 'Rules that fired, by what each does', ['do']);
  const stops = counter(registry, 'echelon_rules_stopped_total', 'Experiments stopped by rules');
  for (const action of RULE_ACTIONS) rules.inc({ do: action }, 0);
  return {
    /** Rules that were recorded, by what each does; whether the experiment was stopped by them. */
    ruled({ actions, stopped }: { actions: readonly string[]; stopped: boolean }): void {
      for (const action of actions) rules.inc({ do: action });
      if (stopped) stops.inc();
    },
  };
}
