import type { Line } from '../../queue/line.ts';
import type { Store } from '../../store/store.ts';
import type { Log } from '../log.ts';

/**
 * Makes the line agree with the records, one bounded step a call: adds a job for each queued experiment that has none, takes
 * out jobs of experiments that are not queued any more. Each step looks at `step` of both; those that move meanwhile may be
 * passed over, and are met the next time round. Safe beside submissions, claims and other dispatchers doing the same.
 */
export function createReconciler({
  store,
  line,
  step,
  log,
}: {
  store: Pick<Store, 'waitingIds' | 'whoWaits' | 'get'>;
  line: Pick<Line, 'slice' | 'missing' | 'ensure' | 'leave'>;
  step: number;
  log: Log;
}): () => Promise<{ added: number; removed: number }> {
  const next = { waiting: 0, job: 0 };

  async function addMissing(): Promise<number> {
    const waiting = await store.waitingIds(step, next.waiting);
    next.waiting = waiting.length < step ? 0 : next.waiting + step;
    let added = 0;
    for (const id of await line.missing(waiting)) {
      const record = await store.get(id);
      if (record?.state === 'queued' && (await line.ensure(id, record.priority))) added += 1;
    }
    return added;
  }

  async function removeStray(): Promise<number> {
    // Jobs first: an experiment that is submitted in between then has a record, and its job is not taken for stray.
    const jobs = await line.slice(next.job, step);
    next.job = jobs.length < step ? 0 : next.job + step;
    const waiting = await store.whoWaits(jobs);
    let removed = 0;
    for (const id of jobs) {
      if (waiting.has(id) || (await store.get(id))?.state === 'queued') continue;
      await line.leave(id);
      removed += 1;
    }
    return removed;
  }

  return async () => {
    const [added, removed] = [await addMissing(), await removeStray()];
    if (added + removed > 0) log.info({ added, removed }, 'the line was made to agree with the records');
    return { added, removed };
  };
}

/** Deadlines looked at in one step. */
const OVERDUE_AT_ONCE = 500;

/** Ends the experiments that wait although their deadline has passed. */
export async function failOverdue({
  store,
  log,
}: {
  store: Pick<Store, 'failOverdue'>;
  log: Log;
}): Promise<void> {
  for (let ended = OVERDUE_AT_ONCE; ended === OVERDUE_AT_ONCE; ) {
    ended = await store.failOverdue(OVERDUE_AT_ONCE);
    if (ended > 0) log.info({ ended }, 'ended experiments whose deadline passed while they waited');
  }
}
