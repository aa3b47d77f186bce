#!lua
-- Accepts a sweep: its record with the fixed values of every child, in one step. Children become experiments later.
--
-- KEYS[1]   root of all keys
-- ARGV      1 id, 2 project, 3 name, 4 method, 5 seed or '', 6 spec (JSON), 7 axes (JSON), 8 fingerprints (JSON),
--           9 name of caller and Idempotency-Key or '', 10 digest of the request, 11 '1' if the store accepts new work,
--           12 version of the record's layout, 13 early stopping (JSON) or '', 14 MAX queued experiments of a project,
--           15 MAX bytes of a project without a quota of its own (0: no limit), 16 number of children that depend on
--           another child, then for each of these: its index and the index of the other; then for each child its values (JSON), in order; dependent children come last
-- Returns   {'ok', id, '1' created or '0'}
-- Errors    {'conflict'}: the key was used with another request; {'full'}: the store accepts no new work;
--           {'no-project'}: its project was removed; {'queue-full'}: its project has too many queued experiments;
--           {'closed', who closed its queue (JSON)}; {'over-quota', bytes of its project, their bound}
-- Events    PUBLISH wake 'sweep'
--
-- A repeated call (same id, or same key and digest) answers as the first did.
-- include time
-- include idempotency
-- include admit
-- include to-come
-- include bytes

local root, id = KEYS[1], ARGV[1]
local s = root .. ':sweep:' .. id
local before = createdBefore(root, ARGV[9], ARGV[10], id)
if before then return before end
if redis.call('EXISTS', s) == 1 then return { 'ok', id, '1' } end
local held = tonumber(ARGV[16])
local first = 17 + 2 * held
local count = #ARGV - first + 1
local bytes = argumentBytes()
local refusal = refused(root, { project = ARGV[2], count = count, accepting = ARGV[11], max = ARGV[14], quota = ARGV[15],
  bytes = bytes + count * CHILD_BYTES })
if refusal then return refusal end

local seq = int(redis.call('INCR', root .. ':seq'))
redis.call('HSET', s, 'version', ARGV[12], 'id', id, 'project', ARGV[2], 'name', ARGV[3], 'method', ARGV[4],
  'seed', ARGV[5], 'spec', ARGV[6], 'axes', ARGV[7], 'fingerprints', ARGV[8], 'count', int(count), 'expanded', '0',
  'open', int(count), 'state', 'running', 'reason', 'submitted', 'createdAt', int(nowMs()), 'seq', seq,
  'earlyStopping', ARGV[13])
if held > 0 then
  for at = 17, first - 1, 2 do redis.call('HSET', s .. ':after', ARGV[at], ARGV[at + 1]) end
  redis.call('HSET', s, 'held', int(held), 'free', int(count - held))
end
-- unpack() fails above some 8,000 values.
for from = first, #ARGV, 1000 do
  redis.call('RPUSH', s .. ':children', unpack(ARGV, from, math.min(from + 999, #ARGV)))
end
countBytes(root, ARGV[2], s, bytes)
countToCome(root, s)
rememberCreated(root, ARGV[9], ARGV[10], id)
redis.call('ZADD', root .. ':sweeps', seq, id)
redis.call('ZADD', root .. ':sweeps:' .. ARGV[2], seq, id)
redis.call('ZADD', root .. ':sweep-work', seq, id)
redis.call('PUBLISH', root .. ':wake', 'sweep')
return { 'ok', id, '1' }
