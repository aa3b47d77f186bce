#!lua
-- Opens an external run: a running experiment whose client holds the lease of attempt 1. It takes no place in the queue.
--
-- KEYS[1]   root of all keys
-- ARGV      1 table (JSON): id, project, owner, name, token, silenceMs, key (name of caller and Idempotency-Key or ''), digest (of
--           the request), accepting ('1' if the store accepts new work), version (of the record's layout), maxRuns (open ones
--           of a project), maxQueued (experiments of a project), projectBytes (MAX of a project without a quota of its own, 0:
--           no limit); 2 submitted, 3 resolved, 4 defaults (JSON each)
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

local new = cjson.decode(ARGV[1])
local root, id = KEYS[1], new.id

local function opened(of, created)
  return { 'ok', of, created, redis.call('HGET', root .. ':x:' .. of, 'token') or '' }
end

local before = createdBefore(root, new.key, new.digest, id)
if before then return before[1] == 'ok' and opened(before[2], before[3]) or before end
local x = root .. ':x:' .. id
if redis.call('EXISTS', x) == 1 then return opened(id, '1') end
local refusal = refused(root, { project = new.project, count = 0, accepting = new.accepting, max = new.maxQueued,
  quota = new.projectBytes, bytes = argumentBytes() })
if refusal then return refusal end
local open = root .. ':runs:' .. new.project
if redis.call('SCARD', open) >= new.maxRuns then return { 'runs-full' } end

local now = nowMs()
createRecord(root, { id = id, project = new.project, owner = new.owner, name = new.name, priority = '0', wanted = '', gpus = '0', cpus = '0',
  submitted = ARGV[2], resolved = ARGV[3], defaults = ARGV[4], fingerprint = '', customCode = '', timeoutMs = '',
  deadlineAt = '', labels = '', nodes = '0', nodeLabels = '', tags = '', saveEvery = '', version = new.version, reason = 'opened by its client', now = now },
  { state = 'running', attempt = '1' })
redis.call('HSET', x, 'token', new.token, 'confirmed', '1', 'startedAt', int(now))
redis.call('HSET', x .. ':attempts', '1:cluster', '', '1:claimedAt', int(now), '1:confirmedAt', int(now))
redis.call('ZADD', root .. ':runs', int(now + new.silenceMs), id)
redis.call('SADD', open, id)
rememberCreated(root, new.key, new.digest, id)
return opened(id, '1')
