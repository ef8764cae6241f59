"""Where workers of several machines count together. See `config.shared_limit.Store`."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.limit import Limiter
from config.shared_limit import Grant

_TAKE: Final = """
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
local limit, period, grain = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local grants = {}
for i, key in ipairs(KEYS) do
    local packed, log, total = redis.call('GET', key), {}, 0
    for _, entry in ipairs(packed and cmsgpack.unpack(packed) or {}) do
        if entry[1] > now - period then
            log[#log + 1] = entry
            total = total + entry[2]
        end
    end
    local granted = math.max(0, math.min(tonumber(ARGV[3 + i]), limit - total))
    if granted > 0 then
        if #log > 0 and log[#log][1] >= now then
            log[#log][2] = log[#log][2] + granted
        else
            log[#log + 1] = {now + grain, granted}
        end
        redis.call('SET', key, cmsgpack.pack(log), 'PX', math.ceil((period + grain) * 1000))
    end
    local wait = -1
    if total + granted >= limit then wait = math.max(0, log[1][1] + period - now) end
    grants[i] = {granted, tostring(wait)}
end
return grants
"""
"""The sliding log of `config.limit` for all clients that ask, in one trip and by the one clock of the server."""

_GIVE_BACK: Final = """
local packed = redis.call('GET', KEYS[1])
local log = packed and cmsgpack.unpack(packed) or {}
if #log > 0 then
    log[#log][2] = log[#log][2] - 1
    if log[#log][2] < 1 then log[#log] = nil end
    redis.call('SET', KEYS[1], cmsgpack.pack(log), 'KEEPTTL')
end
"""


class RedisStore:
    """Raises redis.RedisError at the latest after its patience."""

    name: Final = "Redis"
    patience: Final = 0.05  # seconds

    def __init__(self, limiter: Limiter, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._rule = [limiter.limit, limiter.period, limiter.grain]
        self._clock = clock
        self._redis = redis.Redis.from_url(
            address,
            protocol=2,  # no greeting, which would be one more trip
            socket_timeout=self.patience,
            socket_connect_timeout=self.patience,
            retry=Retry(NoBackoff(), 0),
        )
        self._take = self._redis.register_script(_TAKE)
        self._give_back = self._redis.register_script(_GIVE_BACK)

    def take(self, asked: Mapping[str, int]) -> list[Grant]:
        now = self._clock()
        said: Any = self._take(keys=[_key(client) for client in asked], args=[*self._rule, *asked.values()])
        return [Grant(granted, now + float(wait) if float(wait) >= 0 else 0.0) for granted, wait in said]

    def give_back(self, client: str) -> None:
        self._give_back(keys=[_key(client)])

    def close(self) -> None:
        self._redis.close()


def _key(client: str) -> str:
    return f"wire:limit:{client}"
