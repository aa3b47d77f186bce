#!lua
-- Accepts an experiment: record, queue position, indexes, first event and audit entry in one step.
--
-- KEYS[1]   root of all keys
-- ARGV      1-17 its arguments (see redis/lua/create.lua), 18 project, 19 name of caller and Idempotency-Key or
--           '', 20 digest of the request, 21 '1' if the store accepts new work, 22 MAX queued experiments of a project,
--           23 MAX bytes of a project without a quota of its own (0: no limit), 24 version of the record's layout,
--           25 experiment that it runs again, or '', 26 its audit entry (JSON) or '', 27 the caller that the entry counts
--           for, 28 MAX audit entries, 29 MAX of one caller, 30 their lifetime (ms), 31 name of the caller or ''
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
local before = createdBefore(root, ARGV[19], ARGV[20], id)
if before then return before end
if redis.call('EXISTS', x) == 1 then return { 'ok', id, '1' } end
local refusal = refused(root, { project = ARGV[18], count = 1, accepting = ARGV[21], max = ARGV[22],
  quota = ARGV[23], bytes = argumentBytes() })
if refusal then return refusal end

local now = nowMs()
local again = ARGV[25] ~= ''
createWaiting(root, childAt(1, { project = ARGV[18], owner = ARGV[31], version = ARGV[24], rerunOf = again and ARGV[25] or nil,
  reason = again and 'run again' or 'submitted', now = now }))
rememberCreated(root, ARGV[19], ARGV[20], id)
if ARGV[26] ~= '' then
  recordAudit(root, { entry = ARGV[26], ring = ARGV[27], max = ARGV[28], maxOfCaller = ARGV[29], retainMs = ARGV[30] }, now)
end
redis.call('PUBLISH', root .. ':wake', 'queue')
return { 'ok', id, '1' }
