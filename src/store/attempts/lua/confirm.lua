#!lua flags=allow-oom
-- Records that the ray-worker answered the launch of an attempt. This settles the attempt. May be repeated.
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, 2 attempt, 3 token, 4 reason
-- Returns   the new state: 'running', or 'cancelling' if a cancel came first
-- Errors    'lost'
-- Events    state: launching -> running
-- include time
-- include state
-- include suspects

local root, id = KEYS[1], ARGV[1]
local x = root .. ':x:' .. id
if not holds(x, ARGV[2], ARGV[3]) then return 'lost' end
local now = nowMs()
settle(root, id)
redis.call('HSET', x, 'confirmed', '1')
redis.call('HSETNX', x, 'startedAt', int(now))
redis.call('HSETNX', x .. ':attempts', ARGV[2] .. ':confirmedAt', int(now))
local state = redis.call('HGET', x, 'state')
if state ~= 'launching' then return state end
moveState(root, id, { from = state, to = 'running', attempt = ARGV[2], reason = ARGV[4], now = now })
return 'running'
