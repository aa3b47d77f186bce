-- Adds an entry (JSON) to the audit log and deletes the oldest ones. Entries of administrators have a stream of their own.
-- Every other caller has a limited number of entries: one more replaces the caller's oldest. All unauthenticated callers
-- together count as one. No other code changes the log. Needs time.
-- log: entry, ring (the caller that the entry counts for, or 'admin'), max, maxOfCaller, retainMs

-- The id of the next entry: later than every entry of both streams.
local function nextAuditId(root, now)
  local ms, seq = now, 0
  for _, name in ipairs({ ':audit', ':audit:admin' }) do
    local newest = redis.call('XREVRANGE', root .. name, '+', '-', 'COUNT', 1)[1]
    local lastMs, lastSeq = string.match(newest and newest[1] or '0-0', '^(%d+)-(%d+)$')
    lastMs, lastSeq = tonumber(lastMs), tonumber(lastSeq)
    if lastMs > ms or (lastMs == ms and lastSeq >= seq) then ms, seq = lastMs, lastSeq + 1 end
  end
  return int(ms) .. '-' .. int(seq)
end

local function recordAudit(root, log, now)
  local id = nextAuditId(root, now)
  local administrative = log.ring == 'admin'
  local stream = root .. (administrative and ':audit:admin' or ':audit')
  redis.call('XADD', stream, 'MAXLEN', '~', log.max, id, 'e', log.entry)
  redis.call('XTRIM', stream, 'MINID', '~', int(now - log.retainMs))
  if administrative then return id end
  local ring = root .. ':audit:of:' .. log.ring
  if redis.call('RPUSH', ring, id) > tonumber(log.maxOfCaller) then
    redis.call('XDEL', stream, redis.call('LPOP', ring))
  end
  redis.call('PEXPIRE', ring, log.retainMs)
  return id
end
