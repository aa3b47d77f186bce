import type { AnswerStore } from './access/answers-contract.ts';
import type { AccessStore, AuditStore, ProjectStore } from './access/contract.ts';
import type { ArchiveStore, RetentionStore } from './archive/contract.ts';
import type { AttemptStore } from './attempts/contract.ts';
import type { BatchStore } from './batches/contract.ts';
import type { ClockStore } from './clock/clock.ts';
import type { CommandStore } from './clusters/command-contract.ts';
import type { ClusterStore } from './clusters/contract.ts';
import type { EventStore } from './events/contract.ts';
import type { FeedStore } from './events/feed-contract.ts';
import type { ExperimentStore, RevisionStore } from './experiments/contract.ts';
import type { SeriesStore } from './metrics/contract.ts';
import type { QueueStore } from './queue/contract.ts';
import type { WakeTopic } from './redis/wake-hub.ts';
import type { RulesStore } from './rules/contract.ts';
import type { RunStore } from './runs/contract.ts';
import type { SweepStore } from './sweeps/contract.ts';

/*
 * Invariants:
 * - a state and its event are written in one step, along TRANSITIONS, and by the lease holder if there is one;
 * - attempt numbers of an experiment only rise, by one at a time; by more only if a cluster knows higher ones;
 * - event n of an attempt is recorded once, after n - 1;
 * - lease expiry is judged by the server's clock (Redis TIME) and nothing else.
 */

/** Everything that Echelon records, one part per aggregate. */
export interface Store {
  experiments: ExperimentStore;
  attempts: AttemptStore;
  queue: QueueStore;
  events: EventStore;
  feed: FeedStore;
  metrics: SeriesStore;
  batches: BatchStore;
  sweeps: SweepStore;
  rules: RulesStore;
  runs: RunStore;
  clusters: ClusterStore;
  commands: CommandStore;
  projects: ProjectStore;
  access: AccessStore;
  audit: AuditStore;
  answers: AnswerStore;
  revisions: RevisionStore;
  archive: ArchiveStore;
  retention: RetentionStore;
  clock: ClockStore;

  /** Checks persistence settings; throws EchelonError `store-misconfigured` naming each missing setting and its remedy. */
  checkFitness(): Promise<void>;
  /** Id of the installation that this Redis belongs to; null before its first start. */
  installation(): Promise<string | null>;
  /**
   * Binds this store to an installation, which the Redis gets if it has none. From then on, scripts run on no other Redis.
   * Returns the id that the Redis has.
   */
  bind(installation: string): Promise<string>;
  /**
   * Used and maximal memory (0: no limit), whether new work is accepted, and the bytes that a project without a quota of
   * its own may store (0: no limit).
   */
  pressure(): Promise<{ usedBytes: number; maxBytes: number; accepting: boolean; projectBytes: number }>;

  /** Sends a wake-up: a hint to look at the store again. Nothing depends on its arrival. */
  wake(topic: WakeTopic): Promise<void>;
  onWake(listener: (topic: WakeTopic) => void): Promise<() => Promise<void>>;

  close(): Promise<void>;
}

type Call = (...args: never) => unknown;
type Aggregate = { [A in keyof Store]: Store[A] extends Call ? never : A }[keyof Store];
type Method = Exclude<keyof Store, Aggregate>;
/** A method of the store as `aggregate.method`. */
export type StorePath = Method | { [A in Aggregate]: `${A}.${keyof Store[A] & string}` }[Aggregate];

/** The methods of the store that a caller needs, e.g. `StorePart<'experiments.get' | 'events.append'>`. */
export type StorePart<P extends StorePath> = Pick<Store, P & Method> & {
  [A in Aggregate as P extends `${A}.${string}` ? A : never]: Pick<
    Store[A],
    P extends `${A}.${infer M}` ? M & keyof Store[A] : never
  >;
};
