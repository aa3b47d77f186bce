-- Names this run of the server: another after a restart or a failover.
local function serverRun()
  return string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
end
