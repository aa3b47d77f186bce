#!lua
-- Accepts an experiment: record, place in the line, indexes and first event in one step.
--
-- KEYS[1]   root of all keys
-- ARGV      1 id, 2 project, 3 name, 4 priority, 5 wanted cluster or '', 6 gpus, 7 cpus, 8 submitted (JSON),
--           9 resolved (JSON), 10 defaults (JSON), 11 fingerprint or '', 12 names of the idempotency key or '',
--           13 digest of the request, 14 '1' where new work is accepted, 15 version of the record's layout,
--           16 experiment that it runs again, or ''
-- Returns   {'ok', id, '1' created or '0'}
-- Errors    {'conflict'}: the key was used with another request; {'full'}: new work is not accepted
-- Events    state: null -> queued, under 0-1; PUBLISH wake 'line'
--
-- A repeated call (same id, or same key and digest) answers as the first did.
-- include time
-- include idempotency
-- include state
-- include create

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
local digest, earlier = earlierRequest(root, ARGV[12])
if digest then
  if digest ~= ARGV[13] then return { 'conflict' } end
  return { 'ok', earlier, earlier == id and '1' or '0' }
end
if redis.call('EXISTS', x) == 1 then return { 'ok', id, '1' } end
if ARGV[14] ~= '1' then return { 'full' } end

createWaiting(root, { id = id, project = ARGV[2], name = ARGV[3], priority = ARGV[4], wanted = ARGV[5],
  gpus = ARGV[6], cpus = ARGV[7], submitted = ARGV[8], resolved = ARGV[9], defaults = ARGV[10],
  fingerprint = ARGV[11], version = ARGV[15], rerunOf = ARGV[16] ~= '' and ARGV[16] or nil,
  reason = ARGV[16] ~= '' and 'run again' or 'submitted', now = nowMs() })
rememberRequest(root, ARGV[12], ARGV[13], id)
redis.call('PUBLISH', root .. ':wake', 'line')
return { 'ok', id, '1' }
