-- Reads users or items as they were when the copy of their shard began, and keeps the copy alive.
-- Input:  KEYS 1 head · 2 vectors · 3 copy · 4… the body of each
--         ARGV 1 id of the copy · 2 seconds to keep it · then the ids
-- Output: {0}    the copy is gone: too long unread, or the shard was emptied
--         {-1}   a commit has kept nothing of what it overwrote
--         {1, vector, body, vector, body, …}
local copy = redis.call('HMGET', KEYS[3], 'id', 'commit')
local head = redis.call('HMGET', KEYS[1], 'commit', 'copying')
if copy[1] ~= ARGV[1] or not head[2] then
  return {0}
end
if copy[2] ~= (head[1] or '') then
  return {-1}
end
redis.call('HSET', KEYS[1], 'copying', tonumber(redis.call('TIME')[1]) + tonumber(ARGV[2]))
local reply = {1}
for i = 3, #ARGV do
  local body = KEYS[i + 1]
  local kept = redis.call('HMGET', KEYS[3], 'v' .. ARGV[i], 'b' .. body)
  reply[2 * i - 4] = kept[1] or redis.call('HGET', KEYS[2], ARGV[i])
  reply[2 * i - 3] = kept[2] or redis.call('GET', body)
end
return reply
