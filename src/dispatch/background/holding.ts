import type { BatchRecord } from '../../store/batches/contract.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';
import { createLoop, type Loop } from '../loop.ts';

/** A batch on which this process failed, not by the batch's fault, is taken again after this time. */
const REST_MS = 5_000;

/** The batches that this process holds. Each is held until it is done or given back, however long that takes. */
export interface Holding {
  /** Batches that may be verified now; none that this process holds already. */
  take(limit: number): Promise<BatchRecord[]>;
  /** See `beginPending` of the store. */
  begin(record: BatchRecord): Promise<boolean>;
  /** It has its report. */
  done(record: BatchRecord): void;
  /** Lets another process, or this one, take it in a while. If the store does not answer, {@link settle} does it later. */
  giveBack(record: BatchRecord): Promise<void>;
  /** Gives back what could not be given back. */
  settle(): Promise<void>;
  /** From now on nothing is taken and nothing begins; gives everything back at once, for others to take. Never throws. */
  close(): Promise<void>;
  /** Renews the lease of all that is held. */
  renewal: Loop;
}

/** See {@link Holding}. */
export function createHolding({
  store,
  holder,
  leaseMs,
  log,
}: {
  store: Pick<Store, 'takePending' | 'beginPending' | 'holdPending' | 'giveBack'>;
  holder: string;
  leaseMs: number;
  log: Log;
}): Holding {
  const lease = { holder, leaseMs };
  const held = new Map<string, BatchRecord>();
  const owed = new Map<string, BatchRecord>();
  let closed = false;

  async function settle(): Promise<void> {
    const records = [...owed.values()];
    await store.giveBack(records, { holder, restMs: REST_MS });
    for (const record of records) owed.delete(nameOf(record));
  }

  return {
    async take(limit) {
      const taken = await store.takePending(limit, lease);
      // Our own lease may have run out while the store was away: what we hold, we hold on to.
      const added = taken.filter((record) => !held.has(nameOf(record)));
      if (closed) {
        await store.giveBack(added, { holder, restMs: 0 });
        return [];
      }
      for (const record of added) {
        held.set(nameOf(record), record);
        owed.delete(nameOf(record));
      }
      return added;
    },
    begin: async (record) => !closed && (await store.beginPending(record, lease)),
    done(record) {
      held.delete(nameOf(record));
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
      await store.giveBack(records, { holder, restMs: 0 }).catch((error) => {
        log.warn({ err: error, batches: records.length }, 'batches were not given back');
      });
    },
    renewal: createLoop({
      name: 'batch lease renewal',
      everyMs: leaseMs / 3,
      log,
      run: () => store.holdPending([...held.values()], lease),
    }),
  };
}

function nameOf({ experiment, attempt, batch }: BatchRecord): string {
  return `${experiment}:${attempt}:${batch}`;
}
