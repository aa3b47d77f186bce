import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createProjectGauges, type ProjectFigures } from './project-gauges.ts';

/*
 * What Prometheus is told. Two kinds of numbers: those of this process (how long its answers take, what it appended
 * and verified), to be added up over processes; and those of the store (the line, the clusters), which every process
 * reads at each scrape and which are the same everywhere, to be taken as a maximum.
 */

/** A cluster as its gauges show it. */
export interface ClusterFigures {
  name: string;
  lastSeenAt: number | null;
  nodes: readonly { gpusTotal: number; gpusUsed: number; cpusTotal: number; cpusUsed: number }[];
  /** Handed out by us. */
  reserved: readonly { gpus: number; cpus: number }[];
}

/** A running experiment as its gauges show it. */
export interface RunningFigures {
  id: string;
  step: number;
  steps: number;
  metrics: Readonly<Record<string, unknown>>;
}

/** What is asked of the store at each scrape. */
export interface StoreFigures {
  /** Experiments by state. */
  experiments: Readonly<Record<string, number>>;
  queueLength: number;
  /** Batches without a report. */
  verificationBacklog: number;
  /** Finished experiments whose streams are not archived yet. */
  archiveBacklog: number;
  leases: { held: number; expired: number };
  memory: { usedBytes: number; maxBytes: number; accepting: boolean };
  clusters: readonly ClusterFigures[];
  projects: readonly ProjectFigures[];
  /** At most {@link SHOWN_EXPERIMENTS} of them. */
  running: readonly RunningFigures[];
}

/** A report, as far as it is counted. */
export interface ReportFigures {
  rows: number;
  exact: number;
  rounding: number;
  wrong: number;
  unverifiable: number;
  errors: readonly string[];
  ok: boolean;
}

/** An answered request. `route`: its pattern, never its path; `stream`: it was an event stream. */
export interface AnswerFigures {
  method: string;
  route: string;
  status: number;
  seconds: number;
  stream: boolean;
}

/** The metrics of one process. */
export interface Metrics {
  contentType: string;
  /** The text that Prometheus reads. */
  text(): Promise<string>;
  answered(answer: AnswerFigures): void;
  appended(work: { seconds: number; events: number; droppedRows: number; ok: boolean }): void;
  reported(report: ReportFigures): void;
  verified(seconds: number): void;
  claimed(): void;
  takenOver(attempts: number): void;
  ended(to: string): void;
  /** Rules that were recorded, by what each does; whether the experiment was stopped by them. */
  ruled(found: { actions: readonly string[]; stopped: boolean }): void;
}

/** More running experiments than this are not shown one by one, so that a scrape stays small. */
export const SHOWN_EXPERIMENTS = 50;

// Known beforehand, so that their counts are shown from 0 on: Prometheus sees no increase in a first value.
const ROW_OUTCOMES = ['exact', 'rounding', 'wrong', 'unverifiable'] as const;
const RULE_ACTIONS = ['mark', 'stop', 'stop-at-checkpoint'];

const SUCCESS_RATE = /(^|[/_])success_rate$/;
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const APPEND_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const VERIFY_SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60];

/**
 * Metrics of a process. `readStore` is asked at each scrape; where it fails, its gauges are left out and
 * `echelon_store_up` is 0. `dispatcher` is asked for what a dispatcher has in hand, where there is one.
 */
export function createMetrics({
  role,
  version,
  readStore,
  dispatcher,
}: {
  role: string;
  version: string;
  readStore: () => Promise<StoreFigures>;
  dispatcher?: () => { attempts: number; verifying: number } | undefined;
}): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry });
  gauge(registry, 'echelon_build_info', 'Always 1; the version is a label', ['version']).set({ version }, 1);
  const work = createCounters(registry);
  const showStore = createStoreGauges(registry);
  const hand = gauge(registry, 'echelon_dispatcher_attempts', 'Attempts that this dispatcher holds');
  const verifying = gauge(registry, 'echelon_dispatcher_verifying', 'Batches that this dispatcher verifies');

  return {
    contentType: registry.contentType,
    async text() {
      showStore(await readStore().catch(() => undefined));
      const now = dispatcher?.();
      hand.set(now?.attempts ?? 0);
      verifying.set(now?.verifying ?? 0);
      return await registry.metrics();
    },
    ...work,
  };
}

function gauge<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: L[] = [],
): Gauge<L> {
  return new Gauge({ name, help, labelNames, registers: [registry] });
}

function counter<L extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: L[] = [],
): Counter<L> {
  return new Counter({ name, help, labelNames, registers: [registry] });
}

/** What this process does, counted as it is done. */
function createCounters(registry: Registry): Omit<Metrics, 'contentType' | 'text'> {
  const registers = [registry];
  const requests = new Histogram({
    name: 'echelon_http_request_duration_seconds',
    help: 'Answered requests, event streams left out',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_SECONDS,
    registers,
  });
  const streams = counter(registry, 'echelon_http_streams_ended_total', 'Event streams that have ended');
  const appends = new Histogram({
    name: 'echelon_append_duration_seconds',
    help: 'Appends of events to streams, until they are on disk',
    labelNames: ['outcome'],
    buckets: APPEND_SECONDS,
    registers,
  });
  const events = counter(registry, 'echelon_append_events_total', 'Events given to appends that succeeded');
  const dropped = counter(
    registry,
    'echelon_rows_dropped_total',
    'Rows of batches that were dropped at their source (visible gaps)',
  );
  const rows = counter(registry, 'echelon_verification_rows_total', 'Rows of reports, by outcome', [
    'outcome',
  ]);
  const batches = counter(registry, 'echelon_verification_batches_total', 'Reports, by verdict', ['verdict']);
  const findings = counter(registry, 'echelon_verification_errors_total', 'Errors of provenance in reports', [
    'code',
  ]);
  const verifications = new Histogram({
    name: 'echelon_verification_duration_seconds',
    help: 'Verifications of one batch',
    buckets: VERIFY_SECONDS,
    registers,
  });
  const claims = counter(registry, 'echelon_attempts_claimed_total', 'Attempts claimed by this dispatcher');
  const takeovers = counter(
    registry,
    'echelon_attempts_taken_over_total',
    'Attempts taken from dispatchers that let their leases expire',
  );
  const ends = counter(registry, 'echelon_attempts_ended_total', 'Attempts ended, by where that led', ['to']);
  const rules = counter(registry, 'echelon_rules_fired_total', 'Rules that fired, by what each does', ['do']);
  const stops = counter(registry, 'echelon_rules_stopped_total', 'Experiments stopped by rules');
  for (const outcome of ROW_OUTCOMES) rows.inc({ outcome }, 0);
  for (const action of RULE_ACTIONS) rules.inc({ do: action }, 0);

  return {
    answered({ method, route, status, seconds, stream }) {
      if (stream) streams.inc();
      else requests.observe({ method, route, status: String(status) }, seconds);
    },
    appended({ seconds, events: count, droppedRows, ok }) {
      appends.observe({ outcome: ok ? 'ok' : 'failed' }, seconds);
      if (!ok) return;
      events.inc(count);
      dropped.inc(droppedRows);
    },
    reported(report) {
      for (const outcome of ROW_OUTCOMES) rows.inc({ outcome }, report[outcome]);
      batches.inc({ verdict: report.ok ? 'ok' : 'not-ok' });
      for (const code of report.errors) findings.inc({ code });
    },
    verified: (seconds) => verifications.observe(seconds),
    claimed: () => claims.inc(),
    takenOver: (attempts) => takeovers.inc(attempts),
    ended: (to) => ends.inc({ to }),
    ruled({ actions, stopped }) {
      for (const action of actions) rules.inc({ do: action });
      if (stopped) stops.inc();
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** What the store says, set anew at each scrape; undefined: it does not answer. */
function createStoreGauges(registry: Registry): (figures: StoreFigures | undefined) => void {
  const showProjects = createProjectGauges(registry);
  const up = gauge(registry, 'echelon_store_up', '1 where the store answered this scrape');
  const queue = gauge(registry, 'echelon_queue_length', 'Experiments that wait');
  const experiments = gauge(registry, 'echelon_experiments', 'Experiments, by state', ['state']);
  const leases = gauge(registry, 'echelon_leases', 'Leases; expired: attempts that no dispatcher follows', [
    'kind',
  ]);
  const backlog = gauge(registry, 'echelon_verification_backlog', 'Batches without a report');
  const archiving = gauge(
    registry,
    'echelon_archive_backlog',
    'Finished experiments whose streams are not in the archive yet',
  );
  const memory = gauge(registry, 'echelon_store_memory_bytes', 'Memory of Redis', ['kind']);
  const accepting = gauge(registry, 'echelon_store_accepting', '1 where new experiments are accepted');
  const gpus = gauge(registry, 'echelon_cluster_gpus', 'GPUs of a cluster', ['cluster', 'kind']);
  const cpus = gauge(registry, 'echelon_cluster_cpus', 'CPUs of a cluster', ['cluster', 'kind']);
  const nodes = gauge(registry, 'echelon_cluster_nodes', 'Living nodes of a cluster', ['cluster']);
  const seen = gauge(
    registry,
    'echelon_cluster_last_seen_timestamp_seconds',
    'When the ray-worker last answered; 0: never',
    ['cluster'],
  );
  const step = gauge(registry, 'echelon_training_step', 'Step of a running experiment', ['experiment']);
  const steps = gauge(registry, 'echelon_training_steps', 'Steps it will have; 0: unknown', ['experiment']);
  const success = gauge(registry, 'echelon_training_success_rate', 'Its success rate, as it reports it', [
    'experiment',
    'metric',
  ]);
  const all = [queue, experiments, leases, backlog, memory, accepting, gpus, cpus, nodes, seen, step, steps];

  function showCluster({ name: cluster, lastSeenAt, nodes: alive, reserved }: ClusterFigures): void {
    nodes.set({ cluster }, alive.length);
    seen.set({ cluster }, (lastSeenAt ?? 0) / 1000);
    const show = (kind: string, gpuCounts: number[], cpuCounts: number[]) => {
      gpus.set({ cluster, kind }, sum(gpuCounts));
      cpus.set({ cluster, kind }, sum(cpuCounts));
    };
    const of = <T, K extends keyof T>(items: readonly T[], key: K) => items.map((item) => item[key]);
    show('total', of(alive, 'gpusTotal'), of(alive, 'cpusTotal'));
    show('used', of(alive, 'gpusUsed'), of(alive, 'cpusUsed'));
    show('handed-out', of(reserved, 'gpus'), of(reserved, 'cpus'));
  }

  function showRunning({ id: experiment, ...figures }: RunningFigures): void {
    step.set({ experiment }, figures.step);
    steps.set({ experiment }, figures.steps);
    for (const [metric, value] of Object.entries(figures.metrics))
      if (SUCCESS_RATE.test(metric) && typeof value === 'number') success.set({ experiment, metric }, value);
  }

  return (figures) => {
    for (const one of [...all, success]) one.reset();
    up.set(figures ? 1 : 0);
    showProjects(figures?.projects ?? []);
    if (!figures) {
      // Gauges without labels would say 0, which is not what is known.
      for (const one of [queue, backlog, archiving, accepting]) one.remove();
      return;
    }
    queue.set(figures.queueLength);
    for (const [state, count] of Object.entries(figures.experiments)) experiments.set({ state }, count);
    leases.set({ kind: 'held' }, figures.leases.held);
    leases.set({ kind: 'expired' }, figures.leases.expired);
    backlog.set(figures.verificationBacklog);
    archiving.set(figures.archiveBacklog);
    memory.set({ kind: 'used' }, figures.memory.usedBytes);
    memory.set({ kind: 'max' }, figures.memory.maxBytes);
    accepting.set(figures.memory.accepting ? 1 : 0);
    figures.clusters.forEach(showCluster);
    figures.running.slice(0, SHOWN_EXPERIMENTS).forEach(showRunning);
  };
}
