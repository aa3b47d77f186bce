-- The feeds: what happens to the experiments of a project, and of all projects, each in a stream that is bounded in
-- length. Needs time.
--
-- {root}:feed:p:<project>, {root}:feed:all  streams; entries are numbered 1, 2, 3, … in each (<number>-0)
-- {root}:feeds                              hash: number of the newest entry, by feed (p:<project>, all)
local FEED_LENGTH = { project = 4096, all = 16384 }

local function tellFeed(root, feed, length, entry)
  local number = redis.call('HINCRBY', root .. ':feeds', feed, 1)
  redis.call('XADD', root .. ':feed:' .. feed, 'MAXLEN', '~', length, int(number) .. '-0', unpack(entry))
end

-- what: project, at (ms), event (JSON); experiment and name, or sweep
local function tell(root, what)
  local entry = { 'p', what.project, 'x', what.experiment or '', 'n', what.name or '', 's', what.sweep or '',
    'a', int(what.at), 'd', what.event }
  tellFeed(root, 'p:' .. what.project, FEED_LENGTH.project, entry)
  tellFeed(root, 'all', FEED_LENGTH.all, entry)
  redis.call('PUBLISH', root .. ':told', what.project)
end
