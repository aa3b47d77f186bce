#!lua
-- Adds a subscription. It gets the entries of its project's feed that are recorded from now on.
--
-- KEYS[1]   root of all keys
-- ARGV      1 project, 2 id, 3 subscription (JSON object), 4 MAX subscriptions of a project, 5 the project that always exists
-- Returns   'ok' | 'full': the project has so many | 'no-project'
-- include time

local root, project = KEYS[1], ARGV[1]
local all = root .. ':subscriptions:' .. project
if project ~= ARGV[5] and redis.call('HEXISTS', root .. ':projects', project) == 0 then return 'no-project' end
if redis.call('HLEN', all) >= tonumber(ARGV[4]) then return 'full' end
local newest = redis.call('HGET', root .. ':feeds', 'p:' .. project) or '0'
redis.call('HSET', all, ARGV[2], string.sub(ARGV[3], 1, -2) .. ',"since":' .. newest .. ',"createdAt":' .. int(nowMs()) .. '}')
redis.call('HSET', root .. ':subscription:' .. ARGV[2], 'project', project)
redis.call('HSETNX', root .. ':subscribed', project, newest)
return 'ok'
