-- Reads one user or item with the position it is as of.
-- Input:  KEYS 1 meta · 2 vectors · 3 its row       ARGV 1 id
-- Output: {position, vector, row}
return {
  redis.call('HGET', KEYS[1], 'position'),
  redis.call('HGET', KEYS[2], ARGV[1]),
  redis.call('GET', KEYS[3]),
}
