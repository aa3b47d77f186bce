#!lua
-- Stores the documents that the children of a sweep share: those of one child, from which the others differ in a few values.
-- The first call decides.
--
-- KEYS[1]   root of all keys
-- ARGV      1 sweep, 2 submitted, resolved and defaults (JSON)
-- Returns   the shared documents (JSON), or '' if there is no such sweep
-- include time
-- include bytes

local root, s = KEYS[1], KEYS[1] .. ':sweep:' .. ARGV[1]
local project = redis.call('HGET', s, 'project')
if not project then return '' end
if redis.call('SETNX', s .. ':shared', ARGV[2]) == 1 then countBytes(root, project, s, #ARGV[2]) end
return redis.call('GET', s .. ':shared')
