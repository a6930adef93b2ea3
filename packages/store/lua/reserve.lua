-- Reserves a model for a restore, or keeps it reserved. From then on no service can join it; a
-- restore that was killed counts as running for as long as a service.
-- Input:  KEYS 1 manifest
--         ARGV 1 id of the restore · 2 how long it counts as running, ms · 3 'begin' or 'go on'
-- Output: 1 reserved      0 'begin': a service or another restore is running
--                         0 'go on': it is not reserved for this restore any more
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if ARGV[3] == 'begin' then
  local fields = redis.call('HGETALL', KEYS[1])
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, 7) == 'member:' and tonumber(fields[i + 1]) >= now then
      return 0
    end
  end
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'restoring', ARGV[1])
elseif redis.call('HGET', KEYS[1], 'restoring') ~= ARGV[1] then
  return 0
end
local untilMs = string.format('%.0f', now + tonumber(ARGV[2]))
redis.call('HSET', KEYS[1], 'member:' .. ARGV[1], untilMs)
return 1
