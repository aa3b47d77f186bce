-- Raises the layout of an experiment's record, unless it has this one or a later one already.
local function raiseLayout(x, layout)
  if tonumber(redis.call('HGET', x, 'version') or '1') < layout then redis.call('HSET', x, 'version', layout) end
end
