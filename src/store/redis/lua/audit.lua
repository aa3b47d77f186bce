-- Adds an entry (JSON) to the audit log and lets the oldest ones go. What administrators did stands in a stream of its
-- own. Of every other caller, and of all who are none together, only so many entries are kept: one more takes the place
-- of the caller's own oldest. Nothing else ever changes the log. Needs time.
-- log: entry, ring (the caller that it counts for; 'admin': what an administrator did), most, mostOfCaller, keptMs

-- The id of the next entry: later than all, in whichever stream they are.
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
  redis.call('XADD', stream, 'MAXLEN', '~', log.most, id, 'e', log.entry)
  redis.call('XTRIM', stream, 'MINID', '~', int(now - log.keptMs))
  if administrative then return id end
  local ring = root .. ':audit:of:' .. log.ring
  if redis.call('RPUSH', ring, id) > tonumber(log.mostOfCaller) then
    redis.call('XDEL', stream, redis.call('LPOP', ring))
  end
  redis.call('PEXPIRE', ring, log.keptMs)
  return id
end
