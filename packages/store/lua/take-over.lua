-- Makes a new epoch the only writer of a shard.
-- Input:  KEYS 1 head · 2 sums · 3 outbox          ARGV 1 epoch · 2 seal of the manifest, or ''
-- Output: {0, fence}                                the epoch is not above the stored fence
--         {-2, seal}                                the shard was written under another manifest
--         {-3}                                      the shard is being emptied or restored
--         {1, sums, outbox, fence, position, commit, facts}     taken over; the state before
local stored =
  redis.call('HMGET', KEYS[1], 'fence', 'position', 'commit', 'facts', 'seal', 'emptying')
local fence, seal = stored[1], stored[5]
if stored[6] then
  return {-3}
end
if seal and ARGV[2] ~= '' and seal ~= ARGV[2] then
  return {-2, seal}
end
if fence and tonumber(fence) >= tonumber(ARGV[1]) then
  return {0, fence}
end
redis.call('HSET', KEYS[1], 'fence', ARGV[1])
if ARGV[2] ~= '' then
  redis.call('HSET', KEYS[1], 'seal', ARGV[2])
end
local sums, outbox = redis.call('GET', KEYS[2]), redis.call('GET', KEYS[3])
return {1, sums, outbox, fence, stored[2], stored[3], stored[4]}
