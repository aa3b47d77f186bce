import type { State } from '../../core/states.ts';
import type { RetentionStage } from '../../schemas/retention.ts';

/**
 * Names of all keys; the scripts build the same names from `root`. They have a common hash tag, although Redis Cluster is
 * not supported: names in stored data never change.
 */
export interface Keys {
  /** `{prefix}`: prefix of every key. */
  root: string;
  /** String: id of the installation: this Redis, its archive and its ray-workers. */
  installation: string;
  /** Hash: the record of an experiment. */
  experiment(id: string): string;
  /** Stream: its events. */
  events(id: string): string;
  /** Hash: last value (JSON) of each metric. */
  metrics(id: string): string;
  /** Hash: number of each metric in the stream and the series. */
  metricNumbers(id: string): string;
  /** Hash: `<attempt>:cluster|claimedAt|confirmedAt|givenUpAt|last|ended`. */
  attempts(id: string): string;
  /** Hash: `<attempt>:<batch>` → `step rows digest firstEntry lastEntry`. */
  batches(id: string): string;
  /** Hash: `<attempt>:<batch>` → report (JSON). */
  reports(id: string): string;
  /** Sorted set: queued experiments in their order; the score is arrival − priority·2⁴². */
  queue: string;
  /** Sorted set: experiments whose attempt is allocated but not acquired, by the time of the allocation (ms). */
  allocated: string;
  /** Sorted set: held experiments by the end of their lease (ms of Redis TIME). */
  leases: string;
  /** Sorted set: `<experiment>:<attempt>:<batch>` without a report, by the time from which it may be taken. */
  pending: string;
  /** Sorted set: finished experiments whose streams are not in the archive yet, by their end (ms). */
  archiving: string;
  /** Sorted set by the end (ms): finished experiments of a project of which retention deletes `stage` next. */
  due(stage: RetentionStage, project: string): string;
  /** Sorted set: archived experiments of which clusters may still keep event logs, by their end (ms). */
  forgetting: string;
  /** Set: deleted experiments whose objects in the archive still exist. */
  garbage: string;
  /** Hash: cluster (JSON) by name. */
  clusters: string;
  /** Hash: last report of its ray-worker (JSON) by cluster. */
  seen: string;
  /** Set: `<cluster> <directory>` of checkpoints that were saved or read; the files outlive their experiments. */
  checkpoints: string;
  /** Set: clusters on which nothing new starts. */
  draining: string;
  /** Hash: a command. */
  command(id: string): string;
  /** List: lines of its report. */
  commandReport(id: string): string;
  /** Sorted set: open commands in the order of their creation. */
  openCommands: string;
  /** Hash: allocation (JSON) by experiment. */
  allocations(cluster: string): string;
  /** Hash: number of allocations by cluster and by `project:<name>`; number of releases by `freed:<cluster>`. */
  versions: string;
  /** Sorted set by arrival: all experiments, or those of a project, of a state, or of both. */
  index(filter: { project?: string; state?: State }): string;
  /** Channel: the name of a project whose feed has a new entry. */
  feedChanged: string;
  /** Hash: number of the newest entry, by feed. */
  feeds: string;
  /** Channel: topics of wake-ups. */
  wake: string;
  /** Channel: the stream of an experiment has a new entry. */
  changed(id: string): string;
}

/** The keys under `prefix` (without braces). */
export function createKeys(prefix: string): Keys {
  if (!/^[^{}\s]+$/.test(prefix)) throw new TypeError('a prefix is a word without braces');
  const root = `{${prefix}}`;
  const experiment = (id: string) => `${root}:x:${id}`;
  return {
    root,
    installation: `${root}:archive:id`,
    experiment,
    events: (id) => `${experiment(id)}:events`,
    metrics: (id) => `${experiment(id)}:metrics`,
    metricNumbers: (id) => `${experiment(id)}:series:names`,
    attempts: (id) => `${experiment(id)}:attempts`,
    batches: (id) => `${experiment(id)}:batches`,
    reports: (id) => `${experiment(id)}:reports`,
    queue: `${root}:queue`,
    allocated: `${root}:allocated`,
    leases: `${root}:leases`,
    pending: `${root}:pending`,
    archiving: `${root}:archiving`,
    due: (stage, project) => `${root}:due:${stage}:${project}`,
    forgetting: `${root}:forgetting`,
    garbage: `${root}:archive:garbage`,
    clusters: `${root}:clusters`,
    seen: `${root}:clusters:seen`,
    checkpoints: `${root}:checkpoints`,
    draining: `${root}:clusters:draining`,
    command: (id) => `${root}:command:${id}`,
    commandReport: (id) => `${root}:command:${id}:report`,
    openCommands: `${root}:commands`,
    allocations: (cluster) => `${root}:allocations:${cluster}`,
    versions: `${root}:versions`,
    index({ project, state }) {
      if (project !== undefined && state !== undefined) return `${root}:project-state:${state}:${project}`;
      if (project !== undefined) return `${root}:project:${project}`;
      return state === undefined ? `${root}:all` : `${root}:state:${state}`;
    },
    feedChanged: `${root}:feed-changed`,
    feeds: `${root}:feeds`,
    wake: `${root}:wake`,
    changed: (id) => `${experiment(id)}:changed`,
  };
}
