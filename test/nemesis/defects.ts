/** Where a defect shows: a cell of the failpoint matrix, or a world with a fixed seed, and with some of its faults. */
export type Cell =
  | { readonly failpoint: string }
  | { readonly world: string; readonly minutes: number; readonly fault?: string };

/** A defect, made by one edit of one file. */
export interface Defect {
  /** The number of a guarantee of the design. */
  readonly guarantee: number;
  /** The guarantee's mechanism that it removes. */
  readonly removes: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly cell: Cell;
}

const LUA = 'src/store';
const ATTEMPT = 'src/dispatch/attempt';

/** Defects of the mechanisms behind the guarantees that the campaign and the failpoints cover, in their order. */
export const DEFECTS: readonly Defect[] = [
  {
    guarantee: 1,
    removes: 'the lease of an acquired attempt',
    file: `${LUA}/attempts/lua/acquire.lua`,
    from: "redis.call('ZADD', root .. ':leases', int(nowMs() + ARGV[3]), id)",
    to: '',
    cell: { failpoint: 'killed after: store.attempts.acquire' },
  },
  {
    guarantee: 1,
    removes: 'the second release of a job',
    file: 'src/dispatch/placement/reconcile.ts',
    from: 'const released = await Promise.all(unacquired.map((experiment) => queue.release(experiment)));',
    to: 'const released: boolean[] = [];',
    cell: { failpoint: 'killed before: queue.release' },
  },
  {
    guarantee: 1,
    removes: 'the check for an end that is recorded but not concluded',
    file: `${ATTEMPT}/steps/follow.ts`,
    from: "if (known?.ended) return { kind: 'ended', ended: known.ended };\n        after",
    to: 'after',
    cell: { failpoint: 'killed before: store.attempts.end' },
  },
  {
    guarantee: 1,
    removes: 'the check for deadlines in the queue',
    file: 'src/dispatch/dispatcher.ts',
    from: 'await failOverdue({ store, queue, log });',
    to: '',
    cell: { failpoint: 'killed before: store.attempts.end' },
  },
  {
    guarantee: 1,
    removes: 'the memory of Idempotency-Keys',
    file: `${LUA}/experiments/lua/submit.lua`,
    from: 'if before then return before end',
    to: '',
    cell: { world: 'api', minutes: 0.3 },
  },
  {
    guarantee: 1,
    removes: 'the checks of Redis while a process runs',
    file: 'src/main/watch-store.ts',
    from: 'setInterval(() => void check(), everyMs)',
    to: 'setInterval(() => {}, everyMs)',
    cell: { world: 'store', minutes: 0.4, fault: 'a setting' },
  },
  {
    guarantee: 1,
    removes: 'the search for a job in the lists of the queue',
    file: 'src/queue/lua/add-jobs.lua',
    from: "if redis.call('EXISTS', prefix .. id) == 0 then return false end",
    to: "if redis.call('EXISTS', prefix .. id) >= 0 then return redis.call('EXISTS', prefix .. id) == 1 end",
    cell: { world: 'store', minutes: 0.5, fault: 'BullMQ' },
  },
  {
    guarantee: 2,
    removes: 'the record that a launch is confirmed',
    file: `${LUA}/attempts/lua/confirm.lua`,
    from: "redis.call('HSET', x, 'confirmed', '1')",
    to: '',
    cell: { world: 'dispatcher', minutes: 0.3 },
  },
  {
    guarantee: 2,
    removes: 'the expiry of a lease before a takeover',
    file: `${LUA}/attempts/lua/take-over.lua`,
    from: "local due = redis.call('ZRANGEBYSCORE', leases, '-inf', int(now),",
    to: "local due = redis.call('ZRANGEBYSCORE', leases, '-inf', int(now + leaseMs),",
    cell: { world: 'api', minutes: 0.2 },
  },
  {
    guarantee: 2,
    removes: 'the comparison of tokens at a renewal',
    file: `${LUA}/attempts/lua/renew.lua`,
    from: 'local held = holds(x, ARGV[i + 1], ARGV[i + 2])',
    to: "local held = redis.call('HGET', x, 'attempt') == ARGV[i + 1]",
    cell: { world: 'dispatcher', minutes: 0.4 },
  },
  {
    guarantee: 3,
    removes: 'the event of a state, in the same step',
    file: `${LUA}/attempts/lua/confirm.lua`,
    from: "moveState(root, id, { from = state, to = 'running', attempt = ARGV[2], reason = ARGV[4], now = now })",
    to: "redis.call('HSET', x, 'state', 'running')",
    cell: { failpoint: 'killed after: store.attempts.confirm' },
  },
  {
    guarantee: 3,
    removes: 'the check that a confirmed launch is not confirmed again',
    file: `${LUA}/attempts/lua/confirm.lua`,
    from: "if state ~= 'launching' then return state end",
    to: '',
    cell: { failpoint: 'answer lost: store.attempts.confirm' },
  },
  {
    guarantee: 3,
    removes: 'the place after which a stream continues',
    file: 'src/http/resources/experiments/events.ts',
    from: "const header = request.headers['last-event-id'];",
    to: "const header = request.headers['last-event'] as string | undefined;",
    cell: { world: 'api', minutes: 0.3 },
  },
  {
    guarantee: 3,
    removes: 'the comparison of tokens at every write',
    file: `${LUA}/redis/lua/state.lua`,
    from: 'and record[2] == attempt and record[3] == token',
    to: 'and record[2] == attempt',
    cell: { world: 'dispatcher', minutes: 0.4 },
  },
  {
    guarantee: 3,
    removes: 'the single entry of an event in a feed',
    file: `${LUA}/redis/lua/feed.lua`,
    from: "appendToFeed(root, 'p:' .. item.project, FEED_LENGTH.project, feedEntry(item))",
    to: "for _ = 1, 2 do appendToFeed(root, 'p:' .. item.project, FEED_LENGTH.project, feedEntry(item)) end",
    cell: { world: 'dispatcher', minutes: 0.2 },
  },
  {
    guarantee: 4,
    removes: 'the news of a cancel at a renewal',
    file: `${ATTEMPT}/leased-attempts.ts`,
    from: "if (state === 'cancelling') run.cancel();",
    to: "if (state === 'queued') run.cancel();",
    cell: { failpoint: 'answer lost: store.attempts.renew' },
  },
  {
    guarantee: 4,
    removes: 'the stop of the driver before a cancel is recorded',
    file: `${ATTEMPT}/steps/stop.ts`,
    from: 'const { dropped } = await client.stop(experiment, attempt, options, signal);',
    to: 'const dropped = client !== undefined;',
    cell: { failpoint: 'answer lost: rayWorker.stop' },
  },
  {
    guarantee: 5,
    removes: 'the turn of a blocked head of the queue',
    file: 'src/scheduler/schedule.ts',
    from: '    cluster.blocker = item;\n',
    to: '',
    cell: { world: 'dispatcher', minutes: 0.5 },
  },
  {
    guarantee: 5,
    removes: 'the quota of a project',
    file: 'src/scheduler/quotas.ts',
    from: 'if (used + reserved + gpus <= quota + EPSILON) continue;',
    to: 'if (used + reserved + gpus >= 0) continue;',
    cell: { world: 'dispatcher', minutes: 0.5 },
  },
  {
    guarantee: 8,
    removes: 'the entry of a batch that was taken for verification',
    file: `${LUA}/batches/lua/take-pending.lua`,
    from: "redis.call('ZADD', pending, int(now + ARGV[2]), member)",
    to: "redis.call('ZREM', pending, member)",
    cell: { failpoint: 'killed after: store.batches.takePending' },
  },
  {
    guarantee: 8,
    removes: 'the refusal of a second report',
    file: `${LUA}/batches/lua/report.lua`,
    from: "if redis.call('HSETNX', x .. ':reports', batch, report) == 0 then",
    to: "if redis.call('HSETNX', x .. ':reports', batch, report) == 2 then",
    cell: { failpoint: 'answer lost: store.batches.report' },
  },
  {
    guarantee: 8,
    removes: 'the removal of a reported batch from the pending ones',
    file: `${LUA}/redis/lua/pending.lua`,
    from: "redis.call('ZREM', pending, ...)",
    to: '',
    cell: { failpoint: 'killed after: store.batches.report' },
  },
  {
    guarantee: 8,
    removes: 'the expiry of a batch lease',
    file: `${LUA}/batches/lua/take-pending.lua`,
    from: 'int(now + ARGV[2])',
    to: 'int(now * 2)',
    cell: { failpoint: 'killed after: store.batches.takePending' },
  },
  {
    guarantee: 9,
    removes: 'the renewal of leases',
    file: `${ATTEMPT}/leased-attempts.ts`,
    from: 'if (runs.size === 0) return;',
    to: 'if (runs.size >= 0) return;',
    cell: { world: 'api', minutes: 0.3 },
  },
  {
    guarantee: 9,
    removes: 'the release of the allocation at the end',
    file: `${LUA}/attempts/lua/end.lua`,
    from: 'freeAllocation(root, id, record[2])',
    to: '',
    cell: { failpoint: 'killed after: store.attempts.end' },
  },
  {
    guarantee: 9,
    removes: 'the next attempt after a killed driver',
    file: `${ATTEMPT}/decide.ts`,
    from: "again: 'program', waits: true },\n  'out-of-memory'",
    to: "again: 'never', waits: true },\n  'out-of-memory'",
    cell: { world: 'ray-worker', minutes: 0.4 },
  },
  {
    guarantee: 9,
    removes: 'the count of crashes before a quarantine',
    file: `${LUA}/redis/lua/suspects.lua`,
    from: 'if #ids == 1 then charge(root, ids[1], lost) end',
    to: 'for _, id in ipairs(ids) do charge(root, id, lost) charge(root, id, lost) charge(root, id, lost) end',
    cell: { failpoint: 'killed after: store.attempts.acquire' },
  },
  {
    guarantee: 9,
    removes: 'the correction of the time after a leap of the clock of Redis',
    file: 'src/store/clock/judge.ts',
    from: 'const correction = correctionOf(reading, own, memory);',
    to: 'const correction = 0 * correctionOf(reading, own, memory);',
    cell: { world: 'clock', minutes: 0.7, fault: 'leaps' },
  },
  {
    guarantee: 10,
    removes: 'the second reading of bytes that the archive does not have',
    file: 'src/dispatch/background/batch-leases.ts',
    from: 'now + doubtMs',
    to: 'now',
    cell: { world: 'store', minutes: 0.4, fault: 'bucket' },
  },
  {
    guarantee: 10,
    removes: 'the retry of a verification while the store is away',
    file: 'src/dispatch/background/verification.ts',
    from: '    if (isForLater(error)) throw error;\n',
    to: '',
    cell: { failpoint: 'answer lost: store.batches.beginPending' },
  },
  {
    guarantee: 10,
    removes: 'the tries of a batch whose verifier was lost',
    file: 'src/dispatch/background/verification.ts',
    from: 'if (deaths >= MAX_TRIES)',
    to: 'if (deaths >= 1)',
    cell: { failpoint: 'killed after: store.batches.beginPending' },
  },
];
