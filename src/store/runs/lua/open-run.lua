#!lua
-- Opens an external run: a running experiment whose client holds the lease of attempt 1. It takes no place in the queue.
--
-- KEYS[1]   root of all keys
-- ARGV      1 id, 2 project, 3 name, 4 submitted, 5 resolved, 6 defaults, 7 token, 8 silenceMs, 9 name of caller and
--           Idempotency-Key or '', 10 digest of the request, 11 '1' if the store accepts new work, 12 version of the
--           record's layout, 13 MAX open runs of a project, 14 MAX queued experiments of a project, 15 MAX bytes of a
--           project without a quota of its own (0: no limit)
-- Returns   {'ok', id, '1' created or '0', token of the run or '' after its end}
-- Errors    {'conflict'}: the key was used with another request; {'full'}: the store accepts no new work;
--           {'no-project'}: its project was removed; {'closed', who closed its queue (JSON)}; {'runs-full'}: its project
--           has too many open runs; {'queue-full'}; {'over-quota', bytes of its project, their bound}
-- Events    state: null -> running
--
-- A repeated call (same id, or same key and digest) answers as the first did.
-- include time
-- include idempotency
-- include state
-- include create
-- include admit

local root, id = KEYS[1], ARGV[1]

local function opened(of, created)
  return { 'ok', of, created, redis.call('HGET', root .. ':x:' .. of, 'token') or '' }
end

local before = createdBefore(root, ARGV[9], ARGV[10], id)
if before then return before[1] == 'ok' and opened(before[2], before[3]) or before end
local x = root .. ':x:' .. id
if redis.call('EXISTS', x) == 1 then return opened(id, '1') end
local refusal = refused(root, { project = ARGV[2], count = 0, accepting = ARGV[11], max = ARGV[14], quota = ARGV[15],
  bytes = argumentBytes() })
if refusal then return refusal end
local open = root .. ':runs:' .. ARGV[2]
if redis.call('SCARD', open) >= tonumber(ARGV[13]) then return { 'runs-full' } end

local now = nowMs()
createRecord(root, { id = id, project = ARGV[2], name = ARGV[3], priority = '0', wanted = '', gpus = '0', cpus = '0',
  submitted = ARGV[4], resolved = ARGV[5], defaults = ARGV[6], fingerprint = '', customCode = '', timeoutMs = '',
  deadlineAt = '', labels = '', nodes = '0', version = ARGV[12], reason = 'opened by its client', now = now },
  { state = 'running', attempt = '1' })
redis.call('HSET', x, 'token', ARGV[7], 'confirmed', '1', 'startedAt', int(now))
redis.call('HSET', x .. ':attempts', '1:cluster', '', '1:claimedAt', int(now), '1:confirmedAt', int(now))
redis.call('ZADD', root .. ':runs', int(now + ARGV[8]), id)
redis.call('SADD', open, id)
rememberCreated(root, ARGV[9], ARGV[10], id)
return opened(id, '1')
