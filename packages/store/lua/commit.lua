-- Writes one batch of one shard, or nothing. All checks come before the first write, and the
-- position is written last: after an error in between, the old position stays and the batch is
-- applied again.
-- Input:  KEYS 1 head · 2 vectors · 3 sums · 4 outbox · 5 copy · 6… bodies appended to
--              · then bodies written whole · then bodies removed
--         ARGV 1 fence · 2 expected position · 3 next position · 4 commit id · 5 sums · 6 outbox
--              7 facts · 8 seal of the manifest, or '' · 9 number of vectors written
--              10 of vectors removed · 11 of bodies appended to · 12 of bodies written whole
--              then id, bytes … · id … · bytes … · bytes …
-- Output: {1, position}  written      {2, position}  already written by this very commit
--         {0, position}  the store is at another position
--         {-1, fence}    the shard has another writer
--         {-2, seal}     the shard was written under another manifest
local stored = redis.call('HMGET', KEYS[1], 'fence', 'position', 'commit', 'seal', 'copying')
local fence, position = stored[1] or '', stored[2] or '0'
if fence ~= ARGV[1] then
  return {-1, fence}
end
if ARGV[8] ~= '' and stored[4] ~= ARGV[8] then
  return {-2, stored[4] or ''}
end
if stored[3] == ARGV[4] then
  return {2, position}
end
if position ~= ARGV[2] then
  return {0, position}
end
local written, removed, appended, whole =
  tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local writtenAt = 13
local removedAt = writtenAt + 2 * written
local appendedAt = removedAt + removed
local wholeAt = appendedAt + appended
if stored[5] and tonumber(stored[5]) < tonumber(redis.call('TIME')[1]) then
  -- Whoever made a copy of the shard has not read on for too long.
  redis.call('HDEL', KEYS[1], 'copying')
  redis.call('UNLINK', KEYS[5])
elseif stored[5] then
  -- A copy is being made: keep what this commit overwrites, unless an earlier one has kept it. An
  -- empty text stands for nothing; neither vectors nor bodies are empty.
  local function keepVector(id)
    if redis.call('HEXISTS', KEYS[5], 'v' .. id) == 0 then
      redis.call('HSET', KEYS[5], 'v' .. id, redis.call('HGET', KEYS[2], id) or '')
    end
  end
  for i = 0, written - 1 do
    keepVector(ARGV[writtenAt + 2 * i])
  end
  for i = 0, removed - 1 do
    keepVector(ARGV[removedAt + i])
  end
  for i = 6, #KEYS do
    if redis.call('HEXISTS', KEYS[5], 'b' .. KEYS[i]) == 0 then
      redis.call('HSET', KEYS[5], 'b' .. KEYS[i], redis.call('GET', KEYS[i]) or '')
    end
  end
  redis.call('HSET', KEYS[5], 'commit', ARGV[4])
end
-- Removals come first: an id may be removed and written again in one batch.
for i = 0, removed - 1 do
  redis.call('HDEL', KEYS[2], ARGV[removedAt + i])
end
for i = 6 + appended + whole, #KEYS do
  redis.call('DEL', KEYS[i])
end
for i = 0, written - 1 do
  redis.call('HSET', KEYS[2], ARGV[writtenAt + 2 * i], ARGV[writtenAt + 2 * i + 1])
end
for i = 0, appended - 1 do
  redis.call('APPEND', KEYS[6 + i], ARGV[appendedAt + i])
end
for i = 0, whole - 1 do
  redis.call('SET', KEYS[6 + appended + i], ARGV[wholeAt + i])
end
redis.call('SET', KEYS[3], ARGV[5])
redis.call('SET', KEYS[4], ARGV[6])
redis.call('HSET', KEYS[1], 'facts', ARGV[7], 'commit', ARGV[4], 'position', ARGV[3])
return {1, ARGV[3]}
