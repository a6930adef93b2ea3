-- Reads some fields of a hash. The cursor of one server means nothing to another, nor to the same
-- one after a restart: a scan that went on there would miss fields. So the server says who it is.
-- Input:  KEYS 1 hash        ARGV 1 cursor · 2 about how many fields
-- Output: {server, next cursor, {field, value, field, value, …}}
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
return {server, page[1], page[2]}
