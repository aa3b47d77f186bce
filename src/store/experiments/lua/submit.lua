#!lua
-- Accepts an experiment: record, queue position, indexes, first event and audit entry in one step.
--
-- KEYS[1]   root of all keys
-- ARGV      1-18 its arguments (see redis/lua/create.lua), 19 project, 20 name of caller and Idempotency-Key or
--           '', 21 digest of the request, 22 '1' if the store accepts new work, 23 MAX queued experiments of a project,
--           24 MAX bytes of a project without a quota of its own (0: no limit), 25 version of the record's layout,
--           26 experiment that it runs again, or '', 27 its audit entry (JSON) or '', 28 the caller that the entry counts
--           for, 29 MAX audit entries, 30 MAX of one caller, 31 their lifetime (ms), 32 name of the caller or ''
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
local before = createdBefore(root, ARGV[20], ARGV[21], id)
if before then return before end
if redis.call('EXISTS', x) == 1 then return { 'ok', id, '1' } end
local refusal = refused(root, { project = ARGV[19], count = 1, accepting = ARGV[22], max = ARGV[23],
  quota = ARGV[24], bytes = argumentBytes() })
if refusal then return refusal end

local now = nowMs()
local again = ARGV[26] ~= ''
createWaiting(root, childAt(1, { project = ARGV[19], owner = ARGV[32], version = ARGV[25], rerunOf = again and ARGV[26] or nil,
  reason = again and 'run again' or 'submitted', now = now }))
rememberCreated(root, ARGV[20], ARGV[21], id)
if ARGV[27] ~= '' then
  recordAudit(root, { entry = ARGV[27], ring = ARGV[28], max = ARGV[29], maxOfCaller = ARGV[30], retainMs = ARGV[31] }, now)
end
redis.call('PUBLISH', root .. ':wake', 'queue')
return { 'ok', id, '1' }
