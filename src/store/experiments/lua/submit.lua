#!lua
-- Accepts an experiment: record, queue position, indexes, first event and audit entry in one step.
--
-- KEYS[1]   root of all keys
-- ARGV      1-13 its arguments (see redis/lua/create.lua), 14 project, 15 name of caller and Idempotency-Key or
--           '', 16 digest of the request, 17 '1' if the store accepts new work, 18 MAX queued experiments of a project,
--           19 version of the record's layout, 20 experiment that it runs again, or '', 21 its audit entry (JSON) or '',
--           22 the caller that the entry counts for, 23 MAX audit entries, 24 MAX of one caller, 25 their lifetime (ms)
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
local before = createdBefore(root, ARGV[15], ARGV[16], id)
if before then return before end
if redis.call('EXISTS', x) == 1 then return { 'ok', id, '1' } end
local refusal = refused(root, { project = ARGV[14], count = 1, accepting = ARGV[17], max = ARGV[18] })
if refusal then return refusal end

local now = nowMs()
local again = ARGV[20] ~= ''
createWaiting(root, childAt(1, { project = ARGV[14], version = ARGV[19], rerunOf = again and ARGV[20] or nil,
  reason = again and 'run again' or 'submitted', now = now }))
rememberCreated(root, ARGV[15], ARGV[16], id)
if ARGV[21] ~= '' then
  recordAudit(root, { entry = ARGV[21], ring = ARGV[22], max = ARGV[23], maxOfCaller = ARGV[24], retainMs = ARGV[25] }, now)
end
redis.call('PUBLISH', root .. ':wake', 'queue')
return { 'ok', id, '1' }
