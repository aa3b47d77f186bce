#!lua flags=allow-oom
-- Stores the report of a batch, its event and the counters, once. It replaces an earlier report only if that is the one that
-- the caller read and may replace.
--
-- KEYS[1]   root of all keys
-- ARGV      1 table (JSON): experiment, batch (attempt:batch), found (what the report adds to the counters: exact, rounding,
--           wrong, unverifiable, errors, unreadable), before (optional: `report`, as it is stored, and `counted`, what it has
--           added); 2 report (JSON), 3 event (JSON)
-- Returns   'stored' | 'replaced' | 'known' | 'missing' (no such batch)
-- Events    verification, under the experiment's current attempt, with "replaces" if it does; published in the feeds if it
--           has wrong rows or errors, or replaces a report
-- include time
-- include bytes
-- include feed
-- include pending

local stated, report, event = cjson.decode(ARGV[1]), ARGV[2], ARGV[3]
local root, id, batch, found, before = KEYS[1], stated.experiment, stated.batch, stated.found, stated.before
local x = root .. ':x:' .. id
if redis.call('HEXISTS', x .. ':batches', batch) == 0 then return 'missing' end
dropPending(root, id .. ':' .. batch)

local outcome, grown = 'stored', #report
if redis.call('HSETNX', x .. ':reports', batch, report) == 1 then
  redis.call('HINCRBY', x, 'vVerified', 1)
else
  if not before or redis.call('HEXISTS', x, 'streamExpired') == 1 then return 'known' end
  if redis.call('HGET', x .. ':reports', batch) ~= before.report then return 'known' end
  outcome, event = 'replaced', string.sub(event, 1, -2) .. ',"replaces":true}'
  grown = grown - #before.report
  redis.call('HSET', x .. ':reports', batch, report)
end
local COUNTERS = { exact = 'vExact', rounding = 'vRounding', wrong = 'vWrong', unverifiable = 'vUnverifiable',
  errors = 'vErrors', unreadable = 'vUnreadable' }
for name, counter in pairs(COUNTERS) do
  redis.call('HINCRBY', x, counter, int(found[name] - (before and before.counted[name] or 0)))
end
local record = redis.call('HMGET', x, 'attempt', 'project', 'name', 'sweep', 'archived')
countBytes(root, record[2], x, grown)
countStream(root, record[2], x, addEntry(x, record[1] .. '-*', 't', 'verification', 'a', int(nowMs()), 'd', event))
redis.call('PUBLISH', x .. ':changed', 'verification')
redis.call('ZADD', root .. ':signals', 'NX', int(nowMs()), id)
-- The stream was archived without this entry.
if record[5] then redis.call('ZADD', root .. ':archiving', int(nowMs()), id) end
if outcome == 'replaced' or found.wrong > 0 or found.errors > 0 then
  publishToFeeds(root, { project = record[2], experiment = id, name = record[3], sweep = record[4], at = nowMs(), event = event })
end
return outcome
