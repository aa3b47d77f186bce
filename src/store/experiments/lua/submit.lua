#!lua
-- Accepts an experiment: record, place in the line, indexes, first event and entry of the audit log in one step.
--
-- KEYS[1]   root of all keys
-- ARGV      1-10 its arguments (see redis/lua/create.lua), 11 project, 12 name of caller and Idempotency-Key or
--           '', 13 digest of the request, 14 '1' where new work is accepted, 15 experiments of a project that may wait,
--           16 version of the record's layout, 17 experiment that it runs again, or '', 18 its entry of the audit
--           log (JSON) or '', 19 the caller that it counts for, 20 entries that are kept at most, 21 of one caller,
--           22 how long they are kept (ms)
-- Returns   {'ok', id, '1' created or '0'}
-- Errors    {'conflict'}: the key was used with another request; {'full'}: new work is not accepted;
--           {'no-project'}: its project was removed meanwhile; {'queue-full'}: too many of its project wait;
--           {'closed', who closed its queue (JSON)}
-- Events    state: null -> queued, under 0-1; PUBLISH wake 'line'
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
local before = madeBefore(root, ARGV[12], ARGV[13], id)
if before then return before end
if redis.call('EXISTS', x) == 1 then return { 'ok', id, '1' } end
local refusal = refused(root, { project = ARGV[11], count = 1, accepting = ARGV[14], most = ARGV[15] })
if refusal then return refusal end

local now = nowMs()
local again = ARGV[17] ~= ''
createWaiting(root, childAt(1, { project = ARGV[11], version = ARGV[16], rerunOf = again and ARGV[17] or nil,
  reason = again and 'run again' or 'submitted', now = now }))
rememberMade(root, ARGV[12], ARGV[13], id)
if ARGV[18] ~= '' then
  recordAudit(root, { entry = ARGV[18], ring = ARGV[19], most = ARGV[20], mostOfCaller = ARGV[21], keptMs = ARGV[22] }, now)
end
redis.call('PUBLISH', root .. ':wake', 'line')
return { 'ok', id, '1' }
