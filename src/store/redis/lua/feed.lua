-- The feeds: events of the experiments of each project, and of all projects, in streams of bounded length. Needs time.
--
-- {root}:feed:p:<project>, {root}:feed:all  streams; entries are numbered 1, 2, 3, … in each (<number>-0)
-- {root}:feeds                              hash: number of the newest entry, by feed (p:<project>, all)
local FEED_LENGTH = { project = 4096, all = 16384 }

local function appendToFeed(root, feed, length, entry)
  local number = redis.call('HINCRBY', root .. ':feeds', feed, 1)
  redis.call('XADD', root .. ':feed:' .. feed, 'MAXLEN', '~', length, int(number) .. '-0', unpack(entry))
end

local function feedEntry(item)
  return { 'p', item.project, 'x', item.experiment or '', 'n', item.name or '', 's', item.sweep or '',
    'a', int(item.at), 'd', item.event }
end

-- Publishes an entry in the feed of its project only. item: project, at (ms), event (JSON); experiment and name, or sweep
local function publishToProject(root, item)
  appendToFeed(root, 'p:' .. item.project, FEED_LENGTH.project, feedEntry(item))
  redis.call('PUBLISH', root .. ':feed-changed', item.project)
end

-- The same, and in the feed of all projects.
local function publishToFeeds(root, item)
  appendToFeed(root, 'all', FEED_LENGTH.all, feedEntry(item))
  publishToProject(root, item)
end
