#!lua flags=allow-oom
-- Records wait reason, queue position and estimated start of experiments. Experiments that are no longer queued are
-- ignored.
--
-- KEYS[1]   root of all keys
-- ARGV      experiment, reason, position ('': unknown) and estimate (JSON; '': none) in turn
-- Returns   number of recorded experiments

local root, recorded = KEYS[1], 0
for i = 1, #ARGV, 4 do
  if redis.call('ZSCORE', root .. ':queue', ARGV[i]) then
    redis.call('HSET', root .. ':x:' .. ARGV[i], 'waitReason', ARGV[i + 1], 'waitRank', ARGV[i + 2], 'waitEstimate',
      ARGV[i + 3])
    recorded = recorded + 1
  end
end
return recorded
