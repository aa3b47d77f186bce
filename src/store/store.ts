import type { AccessStore } from './access/contract.ts';
import type { RetentionStore } from './archive/contract.ts';
import type { LeaseStore } from './attempts/contract.ts';
import type { LimitsStore } from './attempts/limits-contract.ts';
import type { BatchStore } from './batches/contract.ts';
import type { CommandStore } from './clusters/command-contract.ts';
import type { ClusterStore } from './clusters/contract.ts';
import type { EventStore } from './events/contract.ts';
import type { FeedStore } from './events/feed-contract.ts';
import type { LogStore } from './events/log-contract.ts';
import type { ExperimentStore } from './experiments/contract.ts';
import type { RecordsStore } from './experiments/records-contract.ts';
import type { SeriesStore } from './metrics/contract.ts';
import type { QueueStore } from './queue/contract.ts';
import type { LineStore } from './queue/line-contract.ts';
import type { SituationStore } from './queue/situation-contract.ts';
import type { WakeTopic } from './redis/wake-hub.ts';
import type { RulesStore } from './rules/contract.ts';
import type { SweepStore } from './sweeps/contract.ts';

/*
 * What always holds:
 * - a state and its event are written in one step, along TRANSITIONS, and by the holder of the lease where one is held;
 * - attempt numbers of an experiment only rise, by one at a time; further only where a cluster knows higher ones;
 * - event n of an attempt is recorded once, after n - 1;
 * - lease expiry is judged by the server's clock (Redis TIME) and nothing else.
 */

/** All that is kept; each part of it in its own file. */
export interface Store
  extends ExperimentStore,
    LineStore,
    ClusterStore,
    CommandStore,
    LeaseStore,
    EventStore,
    BatchStore,
    SweepStore,
    QueueStore,
    AccessStore,
    RetentionStore,
    RecordsStore,
    SeriesStore,
    LimitsStore,
    FeedStore,
    LogStore,
    RulesStore,
    SituationStore {
  /** Checks persistence settings; throws EchelonError `store-unfit` naming each missing setting and its mend. */
  checkFitness(): Promise<void>;
  /** Id of the archive that belongs to this store; null before it has one. */
  archiveId(): Promise<string | null>;
  /** Makes an archive the one that belongs to this store, if there is none; returns the id of the one that there is then. */
  claimArchiveId(id: string): Promise<string>;
  /** Used and maximal memory (0: none), and whether new work is accepted. */
  pressure(): Promise<{ usedBytes: number; maxBytes: number; accepting: boolean }>;

  // --- wake-ups: hints only, nothing depends on one arriving
  wake(topic: WakeTopic): Promise<void>;
  onWake(listener: (topic: WakeTopic) => void): Promise<() => Promise<void>>;

  close(): Promise<void>;
}
