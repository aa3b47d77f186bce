#!lua flags=allow-oom
-- Stores the report of a batch, its event and the counters, once. A report replaces an earlier one of the code
-- `not-verifiable` if it could verify the batch: another verifier gave up too early.
--
-- KEYS[1]   root of all keys
-- ARGV      1 table (JSON): experiment, batch (attempt:batch), exact, rounding, wrong, unverifiable, errors (number of error
--           findings), isVerified; 2 report (JSON), 3 event (JSON)
-- Returns   'stored' | 'replaced' | 'known' | 'missing' (no such batch)
-- Events    verification, under the experiment's current attempt, with "replaces" if it does; published in the feeds if it
--           has wrong rows or errors, or replaces a report
-- include time
-- include bytes
-- include feed
-- include pending

local found, report = cjson.decode(ARGV[1]), ARGV[2]
local root, id, batch = KEYS[1], found.experiment, found.batch
local x = root .. ':x:' .. id
if redis.call('HEXISTS', x .. ':batches', batch) == 0 then return 'missing' end
dropPending(root, id .. ':' .. batch)

-- The report that this one replaces; nil if it does not.
local function replaced()
  if not found.isVerified or redis.call('HEXISTS', x, 'streamExpired') == 1 then return nil end
  local before = cjson.decode(redis.call('HGET', x .. ':reports', batch))
  for _, finding in ipairs(before.findings or {}) do
    if finding.code == 'not-verifiable' then return before end
  end
end

local outcome, event, grown = 'stored', ARGV[3], #report
if redis.call('HSETNX', x .. ':reports', batch, report) == 0 then
  local before = replaced()
  if not before then return 'known' end
  outcome, event = 'replaced', string.sub(event, 1, -2) .. ',"replaces":true}'
  grown = grown - redis.call('HSTRLEN', x .. ':reports', batch)
  redis.call('HSET', x .. ':reports', batch, report)
  redis.call('HINCRBY', x, 'vUnverifiable', -before.unverifiable)
  -- The one error of the replaced report was `not-verifiable`.
  redis.call('HINCRBY', x, 'vErrors', -1)
  redis.call('HINCRBY', x, 'vUnreadable', -1)
else
  redis.call('HINCRBY', x, 'vVerified', 1)
end
redis.call('HINCRBY', x, 'vExact', found.exact)
redis.call('HINCRBY', x, 'vRounding', found.rounding)
redis.call('HINCRBY', x, 'vWrong', found.wrong)
redis.call('HINCRBY', x, 'vUnverifiable', found.unverifiable)
redis.call('HINCRBY', x, 'vErrors', found.errors)
if not found.isVerified then redis.call('HINCRBY', x, 'vUnreadable', 1) end
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
