-- Registers a service as a member of its model, or returns why not. Services call it every few
-- seconds as their sign of life. Everything is under one key, so that check and write are atomic.
-- Input:  KEYS 1 manifest
--         ARGV 1 manifest · 2 tuning · 3 member · 4 how long it counts as running, ms
--              5 born: the epoch at which to begin a model that is not there, or ''
-- Output: {'agreed', born, rebuilt, former tuning or ''}     {'absent'}  there is no such model
--         {'differs', manifest}                     {'tuned', tuning, number of others}
--         {'restoring'}                             a snapshot is being restored, or was in part
if redis.call('TYPE', KEYS[1]).ok == 'string' then
  return {'differs', redis.call('GET', KEYS[1])}
end
if redis.call('HEXISTS', KEYS[1], 'restoring') == 1 then
  return {'restoring'}
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local manifest = redis.call('HGET', KEYS[1], 'manifest')
if not manifest then
  if ARGV[5] == '' then
    return {'absent'}
  end
  redis.call('HSET', KEYS[1], 'manifest', ARGV[1], 'tuning', ARGV[2], 'born', ARGV[5])
  manifest = ARGV[1]
end
if manifest ~= ARGV[1] then
  return {'differs', manifest}
end
local others = 0
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  if string.sub(fields[i], 1, 7) == 'member:' and fields[i] ~= 'member:' .. ARGV[3] then
    if tonumber(fields[i + 1]) < now then
      redis.call('HDEL', KEYS[1], fields[i])
    else
      others = others + 1
    end
  end
end
local former = redis.call('HGET', KEYS[1], 'tuning')
if former ~= ARGV[2] and others > 0 then
  return {'tuned', former, others}
end
local untilMs = string.format('%.0f', now + tonumber(ARGV[4]))
redis.call('HSET', KEYS[1], 'tuning', ARGV[2], 'member:' .. ARGV[3], untilMs)
local born = redis.call('HMGET', KEYS[1], 'born', 'rebuilt')
return {'agreed', born[1], born[2] or '0', former ~= ARGV[2] and former or ''}
