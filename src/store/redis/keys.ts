import type { State } from '../../core/states.ts';
import type { RetentionStage } from '../../schemas/retention.ts';

/** Names of all keys; see {@link createKeys}. */
export type Keys = ReturnType<typeof createKeys>;

/**
 * The keys under `prefix` (without braces); the scripts build the same names from `root`. They have a common hash tag, although
 * Redis Cluster is not supported: names in stored data never change.
 */
export function createKeys(prefix: string) {
  if (!/^[^{}\s]+$/.test(prefix)) throw new TypeError('a prefix is a word without braces');
  const root = `{${prefix}}`;
  return {
    /** `{prefix}`: prefix of every key. */
    root,
    /** String: id of the installation: this Redis, its archive and its ray-workers. */
    installation: `${root}:archive:id`,
    /** String: layout of the store, see layouts.ts. */
    layout: `${root}:layout`,
    /** Sorted set: queued experiments in their order; the score is arrival − priority·2⁴². */
    queue: `${root}:queue`,
    /** Sorted set: experiments whose attempt is allocated but not acquired, by the time of the allocation (ms). */
    allocated: `${root}:allocated`,
    /** Sorted set: held experiments by the end of their lease (ms of Redis TIME). */
    leases: `${root}:leases`,
    /** Sorted set: `<experiment>:<attempt>:<batch>` without a report, by the time from which it may be taken. */
    pending: `${root}:pending`,
    /** Sorted set by arrival: all experiments, or those of a project, of a state, or of both. */
    index({ project, state }: { project?: string; state?: State }) {
      if (project !== undefined && state !== undefined) return `${root}:project-state:${state}:${project}`;
      if (project !== undefined) return `${root}:project:${project}`;
      return state === undefined ? `${root}:all` : `${root}:state:${state}`;
    },
    /** Channel: the name of a project whose feed has a new entry. */
    feedChanged: `${root}:feed-changed`,
    /** Hash: number of the newest entry, by feed. */
    feeds: `${root}:feeds`,
    /** Hash: what allocations have taken on a day (days since 1970). */
    usage: (day: number) => `${root}:usage:${day}`,
    /** Hash: orders of lists that a caller reads page by page, by slot; and `count`. Expires. */
    listOrders: (caller: string) => `${root}:list-orders:${caller}`,
    /** Channel: topics of wake-ups. */
    wake: `${root}:wake`,
    ...experimentKeys(root),
    ...retentionKeys(root),
    ...clusterKeys(root),
  };
}

function experimentKeys(root: string) {
  const experiment = (id: string) => `${root}:x:${id}`;
  return {
    /** Hash: the record of an experiment. */
    experiment,
    /** Stream: its events. */
    events: (id: string) => `${experiment(id)}:events`,
    /** Hash: last value (JSON) of each metric. */
    metrics: (id: string) => `${experiment(id)}:metrics`,
    /** Hash: number of each metric in the stream and the series. */
    metricNumbers: (id: string) => `${experiment(id)}:series:names`,
    /** Hash: `<attempt>:cluster|claimedAt|confirmedAt|last|ended`. */
    attempts: (id: string) => `${experiment(id)}:attempts`,
    /** Hash: `<attempt>:<batch>` → `step rows digest firstEntry lastEntry`. */
    batches: (id: string) => `${experiment(id)}:batches`,
    /** Hash: `<attempt>:<batch>` → report (JSON). */
    reports: (id: string) => `${experiment(id)}:reports`,
    /** Channel: the stream of an experiment has a new entry. */
    changed: (id: string) => `${experiment(id)}:changed`,
  };
}

function retentionKeys(root: string) {
  return {
    /** Sorted set: finished experiments whose streams are not in the archive yet, by their end (ms). */
    archiving: `${root}:archiving`,
    /** Sorted set by the end (ms): finished experiments of a project of which retention deletes `stage` next. */
    due: (stage: RetentionStage, project: string) => `${root}:due:${stage}:${project}`,
    /** Sorted set: archived experiments of which clusters may still keep event logs, by their end (ms). */
    forgetting: `${root}:forgetting`,
    /** Set: deleted experiments and comparisons whose objects in the archive still exist. */
    garbage: `${root}:archive:garbage`,
    /** String: the dispatcher that applies retention. */
    retention: `${root}:retention`,
    /** String: a backup runs, so that nothing is deleted from the archive. */
    backup: `${root}:backup`,
    /** Set: `<cluster> <directory>` of checkpoints that were saved or read; the files outlive their experiments. */
    checkpoints: `${root}:checkpoints`,
  };
}

function clusterKeys(root: string) {
  return {
    /** Hash: cluster (JSON) by name. */
    clusters: `${root}:clusters`,
    /** Hash: last report of its ray-worker (JSON) by cluster. */
    seen: `${root}:clusters:seen`,
    /** Set: clusters on which nothing new starts. */
    draining: `${root}:clusters:draining`,
    /** Hash: a command. */
    command: (id: string) => `${root}:command:${id}`,
    /** List: lines of its report. */
    commandReport: (id: string) => `${root}:command:${id}:report`,
    /** Sorted set: open commands in the order of their creation. */
    openCommands: `${root}:commands`,
    /** Hash: allocation (JSON) by experiment. */
    allocations: (cluster: string) => `${root}:allocations:${cluster}`,
    /** Sorted set: `<node> <share> <experiment>/<attempt>` of attempts that a fault of the cluster ended, by the time (ms). */
    faults: (cluster: string) => `${root}:faults:${cluster}`,
    /** Hash: number of allocations by cluster and by `project:<name>`; number of releases by `freed:<cluster>`. */
    versions: `${root}:versions`,
  };
}
