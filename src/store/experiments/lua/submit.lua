#!lua
-- Accepts an experiment: record, queue position, indexes, first event and audit entry in one step.
--
-- KEYS[1]   root of all keys
-- ARGV      1-14 its arguments (see redis/lua/create.lua), 15 project, 16 name of caller and Idempotency-Key or
--           '', 17 digest of the request, 18 '1' if the store accepts new work, 19 MAX queued experiments of a project,
--           20 version of the record's layout, 21 experiment that it runs again, or '', 22 its audit entry (JSON) or '',
--           23 the caller that the entry counts for, 24 MAX audit entries, 25 MAX of one caller, 26 their lifetime (ms)
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
local before = createdBefore(root, ARGV[16], ARGV[17], id)
if before then return before end
if redis.call('EXISTS', x) == 1 then return { 'ok', id, '1' } end
local refusal = refused(root, { project = ARGV[15], count = 1, accepting = ARGV[18], max = ARGV[19] })
if refusal then return refusal end

local now = nowMs()
local again = ARGV[21] ~= ''
createWaiting(root, childAt(1, { project = ARGV[15], version = ARGV[20], rerunOf = again and ARGV[21] or nil,
  reason = again and 'run again' or 'submitted', now = now }))
rememberCreated(root, ARGV[16], ARGV[17], id)
if ARGV[22] ~= '' then
  recordAudit(root, { entry = ARGV[22], ring = ARGV[23], max = ARGV[24], maxOfCaller = ARGV[25], retainMs = ARGV[26] }, now)
end
redis.call('PUBLISH', root .. ':wake', 'queue')
return { 'ok', id, '1' }
