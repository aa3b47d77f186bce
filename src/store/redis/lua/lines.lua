-- The index of an experiment's log: from the number of a line to its event. Needs time.
--
-- {x}:lines       sorted set: stream id of an event, by the number of lines before it; one event in about LINES_APART
--                 lines or EVENTS_APART events
-- {x}:lines:sums  hash: lines, bytes: totals; indexed: `attempt event lines` of the newest in the sorted set
local LINES_APART, EVENTS_APART = 256, 1024
local sums

-- Counts the lines of event n, whose stream id is entry.
local function countLines(x, attempt, n, entry, lines, bytes)
  if not sums then
    local record = redis.call('HMGET', x .. ':lines:sums', 'lines', 'bytes', 'indexed')
    sums = { lines = tonumber(record[1] or '0'), bytes = tonumber(record[2] or '0') }
    local a, event, before = string.match(record[3] or '', '^(%S+) (%S+) (%S+)$')
    sums.attempt, sums.event, sums.before = a, tonumber(event), tonumber(before)
  end
  if sums.attempt ~= attempt or sums.lines - sums.before >= LINES_APART or n - sums.event >= EVENTS_APART then
    redis.call('ZADD', x .. ':lines', int(sums.lines), entry)
    sums.attempt, sums.event, sums.before = attempt, n, sums.lines
  end
  sums.lines, sums.bytes = sums.lines + lines, sums.bytes + bytes
end

-- Writes the counts of countLines; to be called before the end of the script.
local function writeLines(x)
  if not sums then return end
  redis.call('HSET', x .. ':lines:sums', 'lines', int(sums.lines), 'bytes', int(sums.bytes),
    'indexed', sums.attempt .. ' ' .. int(sums.event) .. ' ' .. int(sums.before))
end
