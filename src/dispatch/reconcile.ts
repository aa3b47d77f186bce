import type { Line } from '../queue/line.ts';
import type { Store } from '../store/store.ts';
import type { Log } from './log.ts';

/**
 * Makes the line agree with the records: adds a job for each queued experiment that has none, takes out jobs of
 * experiments that are not queued any more. Safe beside submissions, claims and other dispatchers doing the same.
 */
export async function reconcile({
  store,
  line,
  limit,
  checks,
  log,
}: {
  store: Pick<Store, 'waitingIds' | 'get'>;
  line: Pick<Line, 'ids' | 'ensure' | 'leave'>;
  /** Waiting experiments looked at. */
  limit: number;
  /** Differences looked into at a time, in either direction; the rest is for the next time. */
  checks: number;
  log: Log;
}): Promise<{ added: number; removed: number }> {
  // Jobs first: an experiment that is submitted in between then has a record, and its job is not taken for stray.
  const jobs = await line.ids();
  const waiting = new Set(await store.waitingIds(limit));
  let added = 0;
  let removed = 0;
  const missing = [...waiting].filter((id) => !jobs.has(id));
  for (const id of missing.slice(0, checks)) {
    const record = await store.get(id);
    if (record?.state !== 'queued') continue;
    await line.ensure(id, record.priority);
    added += 1;
  }
  const stray = [...jobs].filter((id) => !waiting.has(id));
  for (const id of stray.slice(0, checks)) {
    const record = await store.get(id);
    if (record?.state === 'queued') continue;
    await line.leave(id);
    removed += 1;
  }
  if (added + removed > 0) log.info({ added, removed }, 'the line was made to agree with the records');
  return { added, removed };
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
