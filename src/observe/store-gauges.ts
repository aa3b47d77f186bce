import type { Registry } from 'prom-client';
import { gauge } from './instruments.ts';

/** A cluster as its gauges show it. */
interface ClusterFigures {
  name: string;
  lastSeenAt: number | null;
  /** Attempts that run there and that the store does not know. */
  unknownAttempts: number;
  nodes: readonly { gpusTotal: number; gpusUsed: number; cpusTotal: number; cpusUsed: number }[];
  /** Allocations of Echelon. */
  allocated: readonly { gpus: number; cpus: number }[];
}

/** A running experiment as its gauges show it. */
interface RunningFigures {
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
  /** Experiments with events that their rules have not looked at yet. */
  rulesBacklog: number;
  leases: { held: number; expired: number };
  /** Code of the reason why Redis is refused; null: it is not. */
  fault: string | null;
  /** ms that the clock of Redis has leapt. */
  clockLeap: number;
  memory: { usedBytes: number; maxBytes: number; accepting: boolean };
  clusters: readonly ClusterFigures[];
  projects: readonly ProjectFigures[];
  /** At most {@link SHOWN_EXPERIMENTS} of them. */
  running: readonly RunningFigures[];
}

/** More running experiments than this are not shown one by one, so that a scrape stays small. */
export const SHOWN_EXPERIMENTS = 50;

const SUCCESS_RATE = /(^|[/_])success_rate$/;

/** What the store says, set anew at each scrape; undefined: it does not answer. */
export function createStoreGauges(registry: Registry): (figures: StoreFigures | undefined) => void {
  const up = gauge(registry, 'echelon_store_up', '1 where the store answered this scrape');
  const showTotals = createTotalGauges(registry);
  const showRedis = createRedisGauges(registry);
  const showProjects = createProjectGauges(registry);
  const showClusters = createClusterGauges(registry);
  const showTrainings = createTrainingGauges(registry);
  return (figures) => {
    up.set(figures ? 1 : 0);
    showTotals(figures);
    showRedis(figures);
    showProjects(figures?.projects ?? []);
    showClusters(figures?.clusters ?? []);
    showTrainings(figures?.running.slice(0, SHOWN_EXPERIMENTS) ?? []);
  };
}

type TotalFigures = Omit<
  StoreFigures,
  'projects' | 'clusters' | 'running' | 'memory' | 'clockLeap' | 'fault'
>;

function createTotalGauges(registry: Registry): (figures: TotalFigures | undefined) => void {
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
  const rules = gauge(
    registry,
    'echelon_rules_backlog',
    'Experiments with recorded events that their rules have not looked at yet',
  );
  return (figures) => {
    for (const one of [experiments, leases]) one.reset();
    if (!figures) {
      // Gauges without labels would say 0 after a reset, which is not what is known.
      for (const one of [queue, backlog, archiving, rules]) one.remove();
      return;
    }
    queue.set(figures.queueLength);
    for (const [state, count] of Object.entries(figures.experiments)) experiments.set({ state }, count);
    leases.set({ kind: 'active' }, figures.leases.held);
    leases.set({ kind: 'expired' }, figures.leases.expired);
    backlog.set(figures.verificationBacklog);
    archiving.set(figures.archiveBacklog);
    rules.set(figures.rulesBacklog);
  };
}

function createRedisGauges(
  registry: Registry,
): (figures: Pick<StoreFigures, 'memory' | 'clockLeap' | 'fault'> | undefined) => void {
  const memory = gauge(registry, 'echelon_store_memory_bytes', 'Memory of Redis', ['kind']);
  const leap = gauge(
    registry,
    'echelon_store_clock_leap_seconds',
    "How far the clock of Redis has leapt; the store's time continues without the leap",
  );
  const refused = gauge(
    registry,
    'echelon_store_refused',
    'Why Redis is refused: another installation, or settings that lose accepted work',
    ['code'],
  );
  const accepting = gauge(registry, 'echelon_store_accepting', '1 where new experiments are accepted');
  return (figures) => {
    for (const one of [memory, refused]) one.reset();
    if (!figures) {
      for (const one of [leap, accepting]) one.remove();
      return;
    }
    if (figures.fault !== null) refused.set({ code: figures.fault }, 1);
    leap.set(figures.clockLeap / 1000);
    memory.set({ kind: 'used' }, figures.memory.usedBytes);
    memory.set({ kind: 'max' }, figures.memory.maxBytes);
    accepting.set(figures.memory.accepting ? 1 : 0);
  };
}

function createClusterGauges(registry: Registry): (clusters: readonly ClusterFigures[]) => void {
  const gpus = gauge(registry, 'echelon_cluster_gpus', 'GPUs of a cluster', ['cluster', 'kind']);
  const cpus = gauge(registry, 'echelon_cluster_cpus', 'CPUs of a cluster', ['cluster', 'kind']);
  const nodes = gauge(registry, 'echelon_cluster_nodes', 'Living nodes of a cluster', ['cluster']);
  const seen = gauge(
    registry,
    'echelon_cluster_last_seen_timestamp_seconds',
    'When the ray-worker last answered; 0: never',
    ['cluster'],
  );
  const unknown = gauge(
    registry,
    'echelon_cluster_unknown_attempts',
    'Attempts that run on a cluster and that the store does not know, at most 100',
    ['cluster'],
  );
  return (clusters) => {
    for (const one of [gpus, cpus, nodes, seen, unknown]) one.reset();
    for (const { name: cluster, lastSeenAt, nodes: alive, allocated, unknownAttempts } of clusters) {
      unknown.set({ cluster }, unknownAttempts);
      nodes.set({ cluster }, alive.length);
      seen.set({ cluster }, (lastSeenAt ?? 0) / 1000);
      gpus.set({ cluster, kind: 'total' }, sumOf(alive, 'gpusTotal'));
      gpus.set({ cluster, kind: 'used' }, sumOf(alive, 'gpusUsed'));
      gpus.set({ cluster, kind: 'allocated' }, sumOf(allocated, 'gpus'));
      cpus.set({ cluster, kind: 'total' }, sumOf(alive, 'cpusTotal'));
      cpus.set({ cluster, kind: 'used' }, sumOf(alive, 'cpusUsed'));
      cpus.set({ cluster, kind: 'allocated' }, sumOf(allocated, 'cpus'));
    }
  };
}

function sumOf<K extends string>(items: readonly Record<K, number>[], key: K): number {
  return items.reduce((total, item) => total + item[key], 0);
}

function createTrainingGauges(registry: Registry): (running: readonly RunningFigures[]) => void {
  const step = gauge(registry, 'echelon_training_step', 'Step of a running experiment', ['experiment']);
  const steps = gauge(registry, 'echelon_training_steps', 'Steps it will have; 0: unknown', ['experiment']);
  const success = gauge(registry, 'echelon_training_success_rate', 'Its success rate, as it reports it', [
    'experiment',
    'metric',
  ]);
  return (running) => {
    for (const one of [step, steps, success]) one.reset();
    for (const { id: experiment, ...figures } of running) {
      step.set({ experiment }, figures.step);
      steps.set({ experiment }, figures.steps);
      for (const [metric, value] of Object.entries(figures.metrics))
        if (SUCCESS_RATE.test(metric) && typeof value === 'number')
          success.set({ experiment, metric }, value);
    }
  };
}

/** A project as its gauges show it. */
interface ProjectFigures {
  name: string;
  gpusHeld: number;
  /** Null: no limit. */
  gpuQuota: number | null;
  weight: number;
  /** The larger of its shares of all GPUs and of all CPUs, 0 to 1. */
  share: number;
  paused: boolean;
  /** Bytes in Redis, and their bound; null: no limit. */
  storeBytes: number;
  storeLimitBytes: number | null;
}

/** Gauges of projects, set anew at each call. */
export function createProjectGauges(registry: Registry): (projects: readonly ProjectFigures[]) => void {
  const gpus = gauge(
    registry,
    'echelon_project_gpus',
    'GPUs allocated to a project, and its quota if it has one',
    ['project', 'kind'],
  );
  const share = gauge(
    registry,
    'echelon_project_share',
    'Dominant share of a project: of all GPUs or of all CPUs',
    ['project'],
  );
  const weight = gauge(registry, 'echelon_project_weight', 'Weight of a project in the order of the queue', [
    'project',
  ]);
  const paused = gauge(registry, 'echelon_project_paused', '1 if no experiment of the project starts', [
    'project',
  ]);
  const store = gauge(
    registry,
    'echelon_project_store_bytes',
    'Bytes of a project in Redis, and their limit if it has one',
    ['project', 'kind'],
  );
  return (projects) => {
    for (const one of [gpus, share, weight, paused, store]) one.reset();
    for (const { name: project, ...figures } of projects) {
      gpus.set({ project, kind: 'allocated' }, figures.gpusHeld);
      if (figures.gpuQuota !== null) gpus.set({ project, kind: 'quota' }, figures.gpuQuota);
      store.set({ project, kind: 'stored' }, figures.storeBytes);
      if (figures.storeLimitBytes !== null) store.set({ project, kind: 'limit' }, figures.storeLimitBytes);
      share.set({ project }, figures.share);
      weight.set({ project }, figures.weight);
      paused.set({ project }, figures.paused ? 1 : 0);
    }
  };
}
