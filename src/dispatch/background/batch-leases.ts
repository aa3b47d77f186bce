import type { BatchRecord } from '../../store/batches/types.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createLoop, type Loop } from '../loop.ts';

/** The wait before a batch is taken again whose verification failed for another reason than the batch. */
const RETRY_MS = 5_000;
const DOUBT_MS = 120_000;
/** This process takes a batch again long before. */
const FORGET_MS = 3_600_000;

/** The batches that this process has a lease on: each one until its report is stored, or it is given back. */
export interface BatchLeases {
  /** Takes the leases of batches that may be verified now; returns no batch that this process has already. */
  take(limit: number): Promise<BatchRecord[]>;
  /** See `beginPending` of the store. */
  begin(record: BatchRecord): Promise<boolean>;
  /** Whether less than `doubtMs` has passed since the first call for this batch. */
  mayWait(record: BatchRecord): boolean;
  /** The report is stored. */
  done(record: BatchRecord): void;
  /** Lets any process take the batch after a while. If the store does not answer, {@link settle} does it later. */
  giveBack(record: BatchRecord): Promise<void>;
  /** Gives the batches back that {@link giveBack} could not. */
  settle(): Promise<void>;
  /** Gives all batches back for other processes; from now on none is taken and none begins. Never throws. */
  close(): Promise<void>;
  /** Renews all leases. */
  renewal: Loop;
}

/** See {@link BatchLeases}. */
export function createBatchLeases({
  store,
  holder,
  leaseMs,
  doubtMs = DOUBT_MS,
  log,
}: {
  store: Pick<Store, 'batches'>;
  holder: string;
  leaseMs: number;
  doubtMs?: number | undefined;
  log: Log;
}): BatchLeases {
  const lease = { holder, leaseMs };
  const held = new Map<string, BatchRecord>();
  const owed = new Map<string, BatchRecord>();
  const doubts = createDoubts(doubtMs);
  let closed = false;

  const renew = () => store.batches.renewPending([...held.values()], lease);

  async function settle(): Promise<void> {
    const records = [...owed.values()];
    await store.batches.returnPending(records, { holder, restMs: RETRY_MS });
    for (const record of records) owed.delete(nameOf(record));
  }

  return {
    async take(limit) {
      const taken = await store.batches.takePending(limit, lease);
      // A lease may have expired while the store was away: this process is still verifying that batch.
      const added = taken.filter((record) => !held.has(nameOf(record)));
      if (closed) {
        await store.batches.returnPending(added, { holder, restMs: 0 });
        return [];
      }
      for (const record of added) {
        held.set(nameOf(record), record);
        owed.delete(nameOf(record));
      }
      return added;
    },
    begin: async (record) => !closed && (await store.batches.beginPending(record, lease)),
    mayWait: doubts.mayWait,
    done(record) {
      held.delete(nameOf(record));
      doubts.end(record);
    },
    async giveBack(record) {
      if (!held.delete(nameOf(record))) return;
      owed.set(nameOf(record), record);
      await settle().catch(() => {});
    },
    settle,
    async close() {
      closed = true;
      const records = [...held.values(), ...owed.values()];
      held.clear();
      await store.batches.returnPending(records, { holder, restMs: 0 }).catch((error) => {
        log.warn({ err: error, batches: records.length }, 'batches were not given back');
      });
    },
    renewal: createLoop({ name: 'batch lease renewal', everyMs: leaseMs / 3, log, run: renew }),
  };
}

/** Until when each batch may wait, by a clock that cannot be set. Batches that another process has taken over are forgotten. */
export function createDoubts(doubtMs: number, clock = () => performance.now()) {
  const ends = new Map<string, number>();
  return {
    size: () => ends.size,
    mayWait(record: BatchRecord): boolean {
      const now = clock();
      // In the order of their ends.
      for (const [name, end] of ends) {
        if (end + FORGET_MS > now) break;
        ends.delete(name);
      }
      const end = ends.get(nameOf(record)) ?? now + doubtMs;
      ends.set(nameOf(record), end);
      return now < end;
    },
    end: (record: BatchRecord) => void ends.delete(nameOf(record)),
  };
}

function nameOf({ experiment, attempt, batch }: BatchRecord): string {
  return `${experiment}:${attempt}:${batch}`;
}
