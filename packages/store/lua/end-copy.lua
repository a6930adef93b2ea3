-- Ends the copy of a shard: commits keep nothing more. A copy of another id stays.
-- Input:  KEYS 1 head · 2 copy        ARGV 1 id of the copy
-- Output: {0}
if redis.call('HGET', KEYS[2], 'id') == ARGV[1] then
  redis.call('HDEL', KEYS[1], 'copying')
  redis.call('UNLINK', KEYS[2])
end
return {0}
