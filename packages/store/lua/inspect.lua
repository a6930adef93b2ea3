-- Reads what one shard holds beside its vectors and rows, all as of one moment.
-- Input:  KEYS 1 meta · 2 gram · 3 outbox
-- Output: {gram, outbox, name, value, …}            the rest is the meta hash
local reply = {redis.call('GET', KEYS[2]), redis.call('GET', KEYS[3])}
for _, part in ipairs(redis.call('HGETALL', KEYS[1])) do
  reply[#reply + 1] = part
end
return reply
