#!lua flags=allow-oom
-- Stores the report of a batch, its event and the counters, once. A report replaces an earlier one of the code
-- `not-verifiable` if it could verify the batch: another verifier gave up too early.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 attempt:batch, 3 report (JSON), 4 event (JSON),
--           5 exact, 6 rounding, 7 wrong, 8 unverifiable, 9 error findings, 10 '1' if the batch could not be verified
-- Returns   'stored' | 'replaced' | 'known' | 'missing' (no such batch)
-- Events    verification, under the experiment's current attempt, with "replaces" if it does; published in the feeds if it
--           has wrong rows or errors, or replaces a report
-- include time
-- include bytes
-- include feed
-- include pending

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
if redis.call('HEXISTS', x .. ':batches', ARGV[2]) == 0 then return 'missing' end
dropPending(root, id .. ':' .. ARGV[2])

-- The report that this one replaces; nil if it does not.
local function replaced()
  if ARGV[10] == '1' or redis.call('HEXISTS', x, 'streamExpired') == 1 then return nil end
  local before = cjson.decode(redis.call('HGET', x .. ':reports', ARGV[2]))
  for _, finding in ipairs(before.findings or {}) do
    if finding.code == 'not-verifiable' then return before end
  end
end

local outcome, event, grown = 'stored', ARGV[4], #ARGV[3]
if redis.call('HSETNX', x .. ':reports', ARGV[2], ARGV[3]) == 0 then
  local before = replaced()
  if not before then return 'known' end
  outcome, event = 'replaced', string.sub(event, 1, -2) .. ',"replaces":true}'
  grown = grown - redis.call('HSTRLEN', x .. ':reports', ARGV[2])
  redis.call('HSET', x .. ':reports', ARGV[2], ARGV[3])
  redis.call('HINCRBY', x, 'vUnverifiable', -before.unverifiable)
  -- The one error of the replaced report was `not-verifiable`.
  redis.call('HINCRBY', x, 'vErrors', -1)
else
  redis.call('HINCRBY', x, 'vVerified', 1)
end
redis.call('HINCRBY', x, 'vExact', ARGV[5])
redis.call('HINCRBY', x, 'vRounding', ARGV[6])
redis.call('HINCRBY', x, 'vWrong', ARGV[7])
redis.call('HINCRBY', x, 'vUnverifiable', ARGV[8])
redis.call('HINCRBY', x, 'vErrors', ARGV[9])
local record = redis.call('HMGET', x, 'attempt', 'project', 'name', 'sweep', 'archived')
countBytes(root, record[2], x, grown)
countStream(root, record[2], x, addEntry(x, record[1] .. '-*', 't', 'verification', 'a', int(nowMs()), 'd', event))
redis.call('PUBLISH', x .. ':changed', 'verification')
redis.call('ZADD', root .. ':signals', 'NX', int(nowMs()), id)
-- The stream was archived without this entry.
if record[5] then redis.call('ZADD', root .. ':archiving', int(nowMs()), id) end
if outcome == 'replaced' or tonumber(ARGV[7]) > 0 or tonumber(ARGV[9]) > 0 then
  publishToFeeds(root, { project = record[2], experiment = id, name = record[3], sweep = record[4], at = nowMs(), event = event })
end
return outcome
