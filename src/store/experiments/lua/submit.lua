#!lua
-- Accepts an experiment: record, queue position, indexes, first event and audit entry in one step.
--
-- KEYS[1]   root of all keys
-- ARGV      1 table (JSON): the fields of the experiment (see redis/lua/create.lua) with project, owner (name of the caller or
--           ''), rerunOf (experiment that it runs again or '') and version (of the record's layout); key (name of caller and
--           Idempotency-Key or ''), digest (of the request), accepting ('1' if the store accepts new work), maxQueued
--           (experiments of a project), projectBytes (MAX of a project without a quota of its own, 0: no limit), audit (see
--           redis/lua/audit.lua; absent: none); 2 submitted, 3 resolved, 4 defaults (JSON each)
-- Returns   {'ok', id, '1' created or '0'}
-- Errors    {'conflict'}: the key was used with another request; {'full'}: the store accepts no new work;
--           {'no-project'}: its project was removed; {'queue-full'}: its project has too many queued experiments;
--           {'closed', who closed its queue (JSON)}; {'over-quota', bytes of its project, their bound}
-- Events    state: null -> queued, under 0-1; PUBLISH wake 'queue'
--
-- A repeated call (same id, or same key and digest) answers as the first did.
-- include time
-- include idempotency
-- include state
-- include create
-- include audit
-- include admit

local new = cjson.decode(ARGV[1])
local root, id = KEYS[1], new.id
local before = createdBefore(root, new.key, new.digest, id)
if before then return before end
if redis.call('EXISTS', root .. ':x:' .. id) == 1 then return { 'ok', id, '1' } end
local refusal = refused(root, { project = new.project, count = 1, accepting = new.accepting, max = new.maxQueued,
  quota = new.projectBytes, bytes = argumentBytes() })
if refusal then return refusal end

new.submitted, new.resolved, new.defaults = ARGV[2], ARGV[3], ARGV[4]
new.reason, new.now = new.rerunOf ~= '' and 'run again' or 'submitted', nowMs()
createWaiting(root, new)
rememberCreated(root, new.key, new.digest, id)
if new.audit then recordAudit(root, new.audit, new.now) end
redis.call('PUBLISH', root .. ':wake', 'queue')
return { 'ok', id, '1' }
