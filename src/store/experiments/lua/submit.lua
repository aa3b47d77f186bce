#!lua
-- Accepts an experiment: record, queue position, indexes, first event and audit entry in one step.
--
-- KEYS[1]   root of all keys
-- ARGV      1-15 its arguments (see redis/lua/create.lua), 16 project, 17 name of caller and Idempotency-Key or
--           '', 18 digest of the request, 19 '1' if the store accepts new work, 20 MAX queued experiments of a project,
--           21 version of the record's layout, 22 experiment that it runs again, or '', 23 its audit entry (JSON) or '',
--           24 the caller that the entry counts for, 25 MAX audit entries, 26 MAX of one caller, 27 their lifetime (ms)
-- Returns   {'ok', id, '1' created or '0'}
-- Errors    {'conflict'}: the key was used with another request; {'full'}: the store accepts no new work;
--           {'no-project'}: its project was removed; {'queue-full'}: its project has too many queued experiments;
--           {'closed', who closed its queue (JSON)}
-- Events    state: null -> queued, under 0-1; PUBLISH wake 'queue'
--
-- A repeated call (same id, or same key and digest) answers as the first did.
-- include time
-- include idempotency
-- include state
-- include create
-- include audit
-- include admit

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
local before = createdBefore(root, ARGV[17], ARGV[18], id)
if before then return before end
if redis.call('EXISTS', x) == 1 then return { 'ok', id, '1' } end
local refusal = refused(root, { project = ARGV[16], count = 1, accepting = ARGV[19], max = ARGV[20] })
if refusal then return refusal end

local now = nowMs()
local again = ARGV[22] ~= ''
createWaiting(root, childAt(1, { project = ARGV[16], version = ARGV[21], rerunOf = again and ARGV[22] or nil,
  reason = again and 'run again' or 'submitted', now = now }))
rememberCreated(root, ARGV[17], ARGV[18], id)
if ARGV[23] ~= '' then
  recordAudit(root, { entry = ARGV[23], ring = ARGV[24], max = ARGV[25], maxOfCaller = ARGV[26], retainMs = ARGV[27] }, now)
end
redis.call('PUBLISH', root .. ':wake', 'queue')
return { 'ok', id, '1' }
