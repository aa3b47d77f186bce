#!lua
-- Accepts an experiment: record, queue position, indexes, first event and audit entry in one step.
--
-- KEYS[1]   root of all keys
-- ARGV      1-16 its arguments (see redis/lua/create.lua), 17 project, 18 name of caller and Idempotency-Key or
--           '', 19 digest of the request, 20 '1' if the store accepts new work, 21 MAX queued experiments of a project,
--           22 MAX bytes of a project without a quota of its own (0: no limit), 23 version of the record's layout,
--           24 experiment that it runs again, or '', 25 its audit entry (JSON) or '', 26 the caller that the entry counts
--           for, 27 MAX audit entries, 28 MAX of one caller, 29 their lifetime (ms), 30 name of the caller or ''
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

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
local before = createdBefore(root, ARGV[18], ARGV[19], id)
if before then return before end
if redis.call('EXISTS', x) == 1 then return { 'ok', id, '1' } end
local refusal = refused(root, { project = ARGV[17], count = 1, accepting = ARGV[20], max = ARGV[21],
  quota = ARGV[22], bytes = argumentBytes() })
if refusal then return refusal end

local now = nowMs()
local again = ARGV[24] ~= ''
createWaiting(root, childAt(1, { project = ARGV[17], owner = ARGV[30], version = ARGV[23], rerunOf = again and ARGV[24] or nil,
  reason = again and 'run again' or 'submitted', now = now }))
rememberCreated(root, ARGV[18], ARGV[19], id)
if ARGV[25] ~= '' then
  recordAudit(root, { entry = ARGV[25], ring = ARGV[26], max = ARGV[27], maxOfCaller = ARGV[28], retainMs = ARGV[29] }, now)
end
redis.call('PUBLISH', root .. ':wake', 'queue')
return { 'ok', id, '1' }
