-- Makes a new epoch the only writer of a shard.
-- Input:  KEYS 1 meta · 2 gram · 3 outbox          ARGV 1 epoch
-- Output: {0, fence}                                the epoch is not above the stored fence
--         {1, gram, outbox, name, value, …}         taken over; the rest is the meta hash
local fence = redis.call('HGET', KEYS[1], 'fence')
if fence and tonumber(fence) >= tonumber(ARGV[1]) then
  return {0, fence}
end
redis.call('HSET', KEYS[1], 'fence', ARGV[1])
local reply = {1, redis.call('GET', KEYS[2]), redis.call('GET', KEYS[3])}
for _, part in ipairs(redis.call('HGETALL', KEYS[1])) do
  reply[#reply + 1] = part
end
return reply
