-- Begins to copy one shard. From here on commits keep what they overwrite, so that the shard can be
-- read, in as many calls as it takes, as it is at this moment.
-- Input:  KEYS 1 head · 2 sums · 3 outbox · 4 copy        ARGV 1 id of the copy · 2 seconds to keep
--         An id that comes again, because Redis did not answer, begins anew.
-- Output: {0}                                             another copy is being made
--         {-3}                                            the shard is being emptied or restored
--         {1, sums, outbox, fence, position, commit, facts}
local now = tonumber(redis.call('TIME')[1])
local head =
  redis.call('HMGET', KEYS[1], 'fence', 'position', 'commit', 'facts', 'copying', 'emptying')
if head[6] then
  return {-3}
end
local isCopied = head[5] and tonumber(head[5]) >= now
if isCopied and redis.call('HGET', KEYS[4], 'id') ~= ARGV[1] then
  return {0}
end
redis.call('UNLINK', KEYS[4])
redis.call('HSET', KEYS[4], 'id', ARGV[1], 'commit', head[3] or '')
redis.call('HSET', KEYS[1], 'copying', now + tonumber(ARGV[2]))
local sums, outbox = redis.call('GET', KEYS[2]), redis.call('GET', KEYS[3])
return {1, sums, outbox, head[1], head[2], head[3], head[4]}
