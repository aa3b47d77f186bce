#!lua flags=no-writes
-- Reads the store's clock and what its judge compares.
--
-- KEYS[1]   root of all keys
-- ARGV      none
-- Returns   {the server's clock (ms), the store's time (ms), correction (ms), time when last seen (ms) or '', the machine
--           that saw it, uptime of that machine then (ms)}
-- include time

local clock = redis.call('HMGET', KEYS[1] .. ':clock', 'correction', 'seen', 'machine', 'uptime')
return { int(serverMs()), int(nowMs()), clock[1] or '0', clock[2] or '', clock[3] or '', clock[4] or '0' }
