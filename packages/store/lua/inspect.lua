-- Reads what one shard holds beside its vectors and bodies, as of one moment.
-- Input:  KEYS 1 head · 2 sums · 3 outbox
-- Output: {sums, outbox, fence, position, commit, facts}
local head = redis.call('HMGET', KEYS[1], 'fence', 'position', 'commit', 'facts')
return {redis.call('GET', KEYS[2]), redis.call('GET', KEYS[3]), head[1], head[2], head[3], head[4]}
