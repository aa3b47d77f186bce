#!lua
-- Accepts a sweep: its record with the fixed values of every child, in one step. Children become experiments later.
--
-- KEYS[1]   root of all keys
-- ARGV      1 table (JSON): id, project, name, method, seed (string, may be ''), key (name of caller and Idempotency-Key or ''),
--           digest (of the request), accepting ('1' if the store accepts new work), version (of the record's layout),
--           maxQueued (experiments of a project), projectBytes (MAX of a project without a quota of its own, 0: no limit), owner
--           (name of the caller), comparison and metric
--           (JSON) or '', after (for each child that depends on another: its index and the index of the other, strings);
--           2 spec (JSON), 3 axes (JSON), 4 fingerprints (JSON), 5 early stopping (JSON) or '', then for each child its values
--           (JSON), in order; dependent children come last
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

local FIRST = 6
local new = cjson.decode(ARGV[1])
local root, id = KEYS[1], new.id
local s = root .. ':sweep:' .. id
local before = createdBefore(root, new.key, new.digest, id)
if before then return before end
if redis.call('EXISTS', s) == 1 then return { 'ok', id, '1' } end
local held = #new.after / 2
local count = #ARGV - FIRST + 1
local bytes = argumentBytes()
local refusal = refused(root, { project = new.project, count = count, accepting = new.accepting, max = new.maxQueued,
  quota = new.projectBytes, bytes = bytes + count * CHILD_BYTES })
if refusal then return refusal end

local seq = int(redis.call('INCR', root .. ':seq'))
redis.call('HSET', s, 'version', new.version, 'id', id, 'project', new.project, 'name', new.name, 'method', new.method,
  'seed', new.seed, 'spec', ARGV[2], 'axes', ARGV[3], 'fingerprints', ARGV[4], 'count', int(count), 'expanded', '0',
  'open', int(count), 'state', 'running', 'reason', 'submitted', 'createdAt', int(nowMs()), 'seq', seq,
  'earlyStopping', ARGV[5], 'owner', new.owner, 'comparison', new.comparison,
  'metric', new.metric)
if held > 0 then
  for at = 1, 2 * held, 2 do redis.call('HSET', s .. ':after', new.after[at], new.after[at + 1]) end
  redis.call('HSET', s, 'held', int(held), 'free', int(count - held))
end
-- unpack() fails above some 8,000 values.
for from = FIRST, #ARGV, 1000 do
  redis.call('RPUSH', s .. ':children', unpack(ARGV, from, math.min(from + 999, #ARGV)))
end
countBytes(root, new.project, s, bytes)
countToCome(root, s)
rememberCreated(root, new.key, new.digest, id)
redis.call('ZADD', root .. ':sweeps', seq, id)
redis.call('ZADD', root .. ':sweeps:' .. new.project, seq, id)
if new.comparison ~= '' then
  redis.call('ZADD', root .. ':comparisons', seq, id)
  redis.call('ZADD', root .. ':comparisons:' .. new.project, seq, id)
end
redis.call('ZADD', root .. ':sweep-work', seq, id)
redis.call('PUBLISH', root .. ':wake', 'sweep')
return { 'ok', id, '1' }
