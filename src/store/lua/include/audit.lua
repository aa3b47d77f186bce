-- Adds an entry (JSON) to the audit log and lets the oldest ones go, by number and by age. Nothing else ever changes it.
-- Needs time.
local function recordAudit(root, entry, most, keptMs, now)
  local log = root .. ':audit'
  local id = redis.call('XADD', log, 'MAXLEN', '~', most, '*', 'e', entry)
  redis.call('XTRIM', log, 'MINID', '~', int(now - keptMs))
  return id
end
