-- Reads users or items and the head of their shard, as of one moment.
-- Input:  KEYS 1 head · 2 vectors · 3… the body of each       ARGV their ids
-- Output: {fence, position, commit, facts, vector, body, vector, body, …}
local reply = redis.call('HMGET', KEYS[1], 'fence', 'position', 'commit', 'facts')
for i = 1, #ARGV do
  reply[2 * i + 3] = redis.call('HGET', KEYS[2], ARGV[i])
  reply[2 * i + 4] = redis.call('GET', KEYS[i + 2])
end
return reply
