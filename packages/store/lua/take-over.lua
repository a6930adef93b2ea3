-- Makes a new epoch the only writer of a shard.
-- Input:  KEYS 1 meta · 2 gram · 3 outbox          ARGV 1 epoch · 2 seal of the manifest, or ''
-- Output: {0, fence}                                the epoch is not above the stored fence
--         {-2, seal}                                the shard was written under another manifest
--         {1, gram, outbox, name, value, …}         taken over; the rest is the meta hash
local stored = redis.call('HMGET', KEYS[1], 'fence', 'seal')
local fence, seal = stored[1], stored[2]
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
local reply = {1, redis.call('GET', KEYS[2]), redis.call('GET', KEYS[3])}
for _, part in ipairs(redis.call('HGETALL', KEYS[1])) do
  reply[#reply + 1] = part
end
return reply
