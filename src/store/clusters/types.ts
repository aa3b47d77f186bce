import type { AttemptName } from '../../core/ids.ts';
import type { NodeHealth } from '../../core/node-health.ts';
import type { Cordon, NodeBundle, NodeUse } from '../../core/node-states.ts';
import type { PriorityClass } from '../../core/priority-class.ts';

/** A cluster as the store knows it. `token` and `ca` never leave through the API. */
export interface Cluster {
  name: string;
  /** host:port of the ray-worker; empty: the head of its Ray was not there yet. */
  address: string;
  token: string;
  /** PEM of the authority that signed the ray-worker's certificate; null: no TLS. */
  ca: string | null;
  backfill: boolean;
  /** Generation of the ray-worker's state directory, as last seen. */
  generation: string | null;
  /** When its ray-worker last answered, in ms since 1970, by the server's clock. Not to be compared with another clock. */
  lastSeenAt: number | null;
  /** Whether `lastSeenAt` was recent at the time of the read, by the server's clock. Set only by reads. */
  answering?: boolean;
  nodes: ClusterNode[];
  /** As last reported; absent before the first report. */
  rayVersion?: string;
  rayWorkerVersion?: string;
  /** The versions of launch plans that its ray-worker runs; none: it is older than these versions. */
  specVersions?: readonly number[];
  sharedRoot?: string;
  /** Attempts that run there and are in the store no experiment's present attempt. Absent: none. */
  unknownAttempts?: readonly AttemptName[];
  /** The Ray cluster that it was added from; absent if it was added by the ray-worker's address. */
  ray?: RayPlace;
  /** Nothing new starts there. Set only by `setDraining`. */
  draining?: boolean;
  /** Labels by which specs select it. Set only by `set`. */
  labels?: Readonly<Record<string, string>>;
  /** Directories from which specs may load code without the scope `custom-code`. Set only by `set`. */
  codePaths?: readonly string[];
  /** Fields of `runtimeEnv` that specs may have there. Set only by `set`. */
  runtimeEnv?: readonly ('pip' | 'conda')[];
  /** Object stores that specs may name there, each with the projects that may use it. Set only by `set`. */
  checkpointStores?: Readonly<Record<string, readonly string[]>>;
  /** The secrets that projects may use, each with these projects. Default: null, no list. Set only by `set`. */
  secretProjects?: Readonly<Record<string, readonly string[]>> | null;
  /** Nodes that take no new experiment, by id. Set only by `set`. */
  cordons?: Readonly<Record<string, Cordon>>;
  /** Environment variables of every driver there. Set only by `set`. */
  env?: Readonly<Record<string, string>>;
  /** Name of the storage of its shared root: clusters with the same name see the same files there. Set only by `set`. */
  storage?: string;
  /** Nodes that the cluster's autoscaler may bring. Set only by `set`. */
  nodeTypes?: readonly NodeType[];
  /** What its ray-worker asks the autoscaler for. Absent: it never asked. Set only by `ask`. */
  asked?: Asked;
  /** Nodes that were seen within the last hour and are away. Absent: none. */
  away?: readonly AwayNode[];
  /** Where its head and its nodes are asked for as Slurm jobs. Absent: it is a Ray cluster that exists. Set only by `set`. */
  slurm?: SlurmPlace;
  /** Its jobs in Slurm. Absent: none was asked for yet. Set only by `recordSlurm`. Never leaves through the API as a whole. */
  slurmState?: SlurmState;
}

/** How a cluster's jobs are asked for in Slurm: one job for the head of its Ray, and one for each node that joins it. */
export interface SlurmPlace {
  partition: string;
  /** Partition of the head's job; null: the same. */
  headPartition: string | null;
  account: string | null;
  qos: string | null;
  constraint: string | null;
  /** What the job of a node asks for. */
  node: { gpus: number; cpus: number; memoryMb: number | null };
  maxNodes: number;
  /** Time limits of the jobs. */
  minutes: number;
  headMinutes: number;
  /** How long before its end a node is drained. */
  noticeSeconds: number;
  /** How long a node without experiments is kept. */
  idleSeconds: number;
  /** Whether no other job may share the nodes. Ray before 2.52 knows no tokens, and is started only then. */
  exclusive: boolean;
  /** Shell commands that each job runs before Ray; null: none. */
  setup: string | null;
  /** The directory of `ray` and `python` on the nodes. */
  bin: string;
  /** A directory that the login node and all nodes see. */
  sharedRoot: string;
  /** Host of OpenSSH on which Slurm's commands run; null: they run beside the dispatcher. */
  ssh: string | null;
  /** When an administrator stated all this, in ms since 1970: failures before count no more. */
  statedAt: number;
}

/** What is known of a cluster's jobs in Slurm. Instants are in ms since 1970, by the server's clock. */
export interface SlurmState {
  /** Ray's token of the cluster. */
  token: string;
  jobs: readonly SlurmJob[];
  /** Ends of jobs that brought no node, the latest last. */
  failedAt: readonly number[];
  /** Why Slurm was not asked, or gave nothing; null: nothing is wrong. */
  problem: string | null;
  /** Until when Slurm is asked for nothing, as allocations have failed; null: it may be asked. */
  waitsUntil: number | null;
  /** When Slurm last answered. */
  answeredAt: number | null;
}

/** A job that was asked for. It is recorded before Slurm hears of it, and is found again by its request. */
export interface SlurmJob {
  request: string;
  role: 'head' | 'node';
  /** Nodes that it brings together, all of them or none. */
  count: number;
  askedAt: number;
  /** Slurm's id; null: its answer is not known yet. */
  job: string | null;
  /** Slurm's state of the job, such as PENDING; `asked` before the first answer, `gone` if Slurm does not know it any more. */
  state: string;
  /** Why it waits, in Slurm's word; null: it does not. */
  reason: string | null;
  /** Slurm's estimate of its start, or its start; null: none. */
  startsAt: number | null;
  /** Since when it has been seen running; null: it has not. */
  runningSince: number | null;
  /** Its time limit, once it runs. */
  endsAt: number | null;
  /** The Ray that a node joins, as host:port. */
  head: string | null;
  /** When it ended; null: it has not. */
  endedAt: number | null;
  /** Why it was cancelled here; null: it was not. */
  cancelled: string | null;
  /** Its first node's id in Ray; null: its nodes were not all seen there. */
  node: string | null;
  /** Since when its node has had no experiment; null: it has some. */
  idleSince: number | null;
}

/** Equal nodes that an autoscaler may bring. `max`: how many of them the cluster may have. `labels`: that they have in Ray. */
export interface NodeType {
  gpus: number;
  cpus: number;
  max: number;
  labels?: Readonly<Record<string, string>>;
}

/** A request to an autoscaler. */
export interface Asked {
  /** What the cluster is to have room for: the nodes in use, and the new ones. */
  bundles: readonly NodeBundle[];
  /** The new nodes among them. */
  nodes: readonly NodeBundle[];
  /** Numbers of new nodes that one experiment needs together. Absent: none does. */
  gangs?: readonly number[];
  /** Since when these new nodes are asked for, in ms since 1970 by the server's clock. */
  since: number;
}

/** A node that Ray no longer lists as alive. `since`: in ms since 1970, by the server's clock. */
export interface AwayNode {
  id: string;
  gpusTotal: number;
  cpusTotal: number;
  since: number;
  labels?: Readonly<Record<string, string>>;
}

/** A Ray cluster, and how its ray-worker is to run there. `token` and `tls` never leave through the API. */
export interface RayPlace {
  /** ray://host:port */
  address: string;
  token: string | null;
  /** PEM; null: no TLS. */
  tls: { ca?: string; cert?: string; key?: string; serverName?: string } | null;
  /** A directory that all nodes see. */
  sharedRoot: string;
  /** Id, address or host name of the ray-worker's node; null: Ray's head. */
  node: string | null;
  /** null: a free one. */
  port: number | null;
  /** host:port by which the ray-worker is reached; null: the node's own. */
  advertise: string | null;
}

/** The report of a ray-worker about its cluster. */
export type Seen = Pick<
  Cluster,
  | 'address'
  | 'nodes'
  | 'rayVersion'
  | 'rayWorkerVersion'
  | 'specVersions'
  | 'sharedRoot'
  | 'unknownAttempts'
  | 'away'
> & {
  generation: string;
};

/** A node's capacity: total, and what Ray itself counts as used. */
export interface ClusterNode {
  id: string;
  cpusTotal: number;
  gpusTotal: number;
  cpusUsed: number;
  gpusUsed: number;
  /** Ray drains it: nothing new starts there. `remainingMs`: from the report until it is terminated; null: no deadline. */
  draining?: { remainingMs: number | null };
  /** What is in use there, by Ray job. Absent: the ray-worker does not say. */
  uses?: readonly NodeUse[];
  /** Ray's labels of the node. Absent: it has none. */
  labels?: Readonly<Record<string, string>>;
  /** Absent: not known. */
  health?: NodeHealth;
}

/** An attempt that a fault of the cluster ended on a node. `share`: 1 divided by the number of its nodes. */
export interface NodeFault {
  node: string;
  /** ms since 1970, by the server's clock. */
  at: number;
  share: number;
}

/** What an experiment holds of one node of a cluster. */
export interface Allocation {
  experiment: string;
  node: string;
  gpus: number;
  cpus: number;
  /** Type of the GPUs. Absent: not known, or no GPUs. */
  gpuType?: string;
  /** The project whose quota it counts against. */
  project: string;
  /** Absent: `normal`. */
  priorityClass?: PriorityClass;
}
