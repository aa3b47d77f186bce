#!lua flags=no-writes
-- Reads the input of a scheduling round at one moment: clusters, allocations, projects, pauses, and the first experiments
-- of each project's queue.
--
-- KEYS[1]   root of all keys
-- ARGV      1 MAX experiments of each project, 2 MAX experiments of all projects, then the fields to read of each
-- Returns   {ms since 1970, clusters, seen, draining, set (of clusters), projects, pauses, versions,
--           allocations ({cluster, its allocations, ...}),
--           1 if there are more than ARGV[2] experiments, which the caller then reads itself, else 0,
--           projects with further queued experiments, {experiment, score, fields, ...}, leaving,
--           allocations that have just ended ({cluster, {'<experiment> <allocation>', ...}, ...})}; hashes as lists of name and value
-- include time
-- include freed

local root, limit, max = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local fields = {}
for i = 3, #ARGV do fields[#fields + 1] = ARGV[i] end

local function hash(name) return redis.call('HGETALL', root .. ':' .. name) end

local clusters, allocated, freed = hash('clusters'), {}, {}
for i = 1, #clusters, 2 do
  allocated[#allocated + 1] = clusters[i]
  allocated[#allocated + 1] = hash('allocations:' .. clusters[i])
  freed[#freed + 1] = clusters[i]
  freed[#freed + 1] = justFreed(root, clusters[i])
end

local truncated, places, length = {}, {}, 0
for _, project in ipairs(redis.call('SMEMBERS', root .. ':queues')) do
  local queue = root .. ':queue:' .. project
  local found = redis.call('ZRANGE', queue, 0, limit - 1, 'WITHSCORES')
  local count = 2 * limit > #found and #found / 2 or redis.call('ZCARD', queue)
  if 2 * count > #found then truncated[#truncated + 1] = project end
  places[#places + 1] = found
  length = length + #found / 2
end

local rows = {}
if length <= max then
  for _, found in ipairs(places) do
    for i = 1, #found, 2 do
      rows[#rows + 1] = found[i]
      rows[#rows + 1] = found[i + 1]
      rows[#rows + 1] = redis.call('HMGET', root .. ':x:' .. found[i], unpack(fields))
    end
  end
end

return { int(nowMs()), clusters, hash('clusters:seen'), redis.call('SMEMBERS', root .. ':clusters:draining'),
  hash('clusters:set'), hash('projects'), hash('paused'), hash('versions'), allocated, length > max and 1 or 0, truncated, rows,
  hash('leaving'), freed }
