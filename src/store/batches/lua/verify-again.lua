#!lua flags=allow-oom
-- Makes batches pending again. A report that they have stays until a better one replaces it (report.lua).
--
-- KEYS[1]   root of all keys
-- ARGV      1 experiment, then attempt:batch of each
-- Returns   1
-- Events    PUBLISH wake 'batch'
-- include time
-- include pending

local root, x = KEYS[1], KEYS[1] .. ':x:' .. ARGV[1]
local project = redis.call('HGET', x, 'project')
for i = 2, #ARGV do
  local member = ARGV[1] .. ':' .. ARGV[i]
  if redis.call('HEXISTS', x .. ':batches', ARGV[i]) == 1 and addPending(root, project, member) then
    redis.call('HDEL', root .. ':pending:begun', member)
  end
end
redis.call('PUBLISH', root .. ':wake', 'batch')
return 1
