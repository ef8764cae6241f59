-- Counts one request by the server's clock. Returns 0, or after how many microseconds the next one may pass. Each request has a name,
-- ARGV[3]: whoever asks again because the answer was late is not counted twice. KEYS[2] counts the client's network, in windows as
-- limiter.py does.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local limit, period = tonumber(ARGV[1]), ARGV[2] * 1000000
if redis.call('ZSCORE', KEYS[1], ARGV[3]) then
    return 0
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - period)
if redis.call('ZCARD', KEYS[1]) >= limit then
    return redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] + period - now
end
if KEYS[2] then
    local window = math.floor(now / period)
    local left = 1 - (now % period) / period
    local passed = tonumber(redis.call('HGET', KEYS[2], window) or 0)
    local before = tonumber(redis.call('HGET', KEYS[2], window - 1) or 0)
    local most = tonumber(ARGV[4])
    if passed + before * left >= most then
        if before > 0 and passed < most then
            left = left - (most - 1 - passed) / before
        end
        return math.max(1, math.ceil(left * period))
    end
    if passed == 0 then
        redis.call('HDEL', KEYS[2], window - 2)
    end
    redis.call('HINCRBY', KEYS[2], window, 1)
    redis.call('PEXPIRE', KEYS[2], 2 * period / 1000)
end
redis.call('ZADD', KEYS[1], now, ARGV[3])
redis.call('PEXPIRE', KEYS[1], period / 1000)
return 0
