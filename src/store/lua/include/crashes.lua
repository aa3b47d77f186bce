-- Crashes of ours that an experiment may have caused. Needs time.
--
-- One is counted where a lease ran out and nothing was recorded while it was held, though it was held for no more than
-- CRASH_MS, or four leases where that is longer: its dispatcher died or froze as soon as it had the experiment in its hands. An attempt that got on, a lease
-- that was let go (a deploy) and one that was held for long (a machine that was lost under a quiet training) count
-- against nobody, and begin the count anew.
local CRASH_MS = 60000

-- The crashes in a row, the one of this lost lease included, as JSON: [{"at", "attempt", "dispatcher", "state"}].
-- lost: attempt (string), state, released (it was let go), now, lease (ms)
local function countCrash(x, lost)
  local record = redis.call('HMGET', x, 'crashes', 'heldSince', 'dispatcher')
  -- Held by a version that did not write it down: nothing is known.
  local from, since = string.match(record[2] or '', '^(%d+):(%d+)$')
  if lost.released or not from then return record[1] or '[]' end
  local last = redis.call('HGET', x .. ':attempts', lost.attempt .. ':last') or '0'
  if tonumber(last) > tonumber(from) or lost.now - since > math.max(CRASH_MS, 4 * lost.lease) then
    redis.call('HDEL', x, 'crashes')
    return '[]'
  end
  local crashes = record[1] and cjson.decode(record[1]) or {}
  crashes[#crashes + 1] = { at = lost.now, attempt = tonumber(lost.attempt), dispatcher = record[3] or '', state = lost.state }
  while #crashes > 10 do table.remove(crashes, 1) end
  local text = cjson.encode(crashes)
  redis.call('HSET', x, 'crashes', text)
  return text
end
