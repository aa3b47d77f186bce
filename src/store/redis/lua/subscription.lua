-- include bytes

-- Removes a subscription and everything of it. Needs time. The waits of its experiments find no subscription when they are due.
local function removeSubscription(root, project, id)
  local all, sub = root .. ':subscriptions:' .. project, root .. ':subscription:' .. id
  local removed = redis.call('HDEL', all, id)
  if redis.call('EXISTS', all) == 0 then redis.call('HDEL', root .. ':subscribed', project) end
  if removed == 1 then
    dropBytes(root, project, sub)
    redis.call('UNLINK', sub, sub .. ':outbox', sub .. ':dead', sub .. ':log')
    redis.call('ZREM', root .. ':deliveries', id)
  end
  return removed
end
