#!lua flags=allow-oom
-- Claims a command, unless another dispatcher has it or an earlier command of the same cluster is open: one at a time runs
-- for each cluster, in order.
--
-- KEYS[1]   root of all keys
-- ARGV      1 id, 2 dispatcher, 3 leaseMs, 4 token
-- Returns   {'claimed', cluster, kind, request, secret, tries}; {'busy'}; {'over'}: final, or no such command
-- include time

local root, id = KEYS[1], ARGV[1]
local command = root .. ':command:' .. id
local record = redis.call('HMGET', command, 'state', 'cluster', 'kind', 'request', 'secret', 'until')
if record[1] ~= 'queued' and record[1] ~= 'running' then
  redis.call('ZREM', root .. ':commands', id)
  return { 'over' }
end
local now = nowMs()
if record[1] == 'running' and tonumber(record[6]) > now then return { 'busy' } end
for _, other in ipairs(redis.call('ZRANGE', root .. ':commands', 0, -1)) do
  if other == id then break end
  if redis.call('HGET', root .. ':command:' .. other, 'cluster') == record[2] then return { 'busy' } end
end
redis.call('HSET', command, 'state', 'running', 'token', ARGV[4], 'dispatcher', ARGV[2], 'until', int(now + ARGV[3]))
local tries = redis.call('HINCRBY', command, 'tries', 1)
return { 'claimed', record[2], record[3], record[4], record[5], tries }
