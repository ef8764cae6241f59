"""Says in one line each whether the Postgres and the Redis of the services run answer; exit 1 when one is missing."""

import os
import sys

import psycopg
import redis


def main() -> int:
    missing = 0
    for name, url, probe in (
        ("TEST_DATABASE_URL", os.environ["TEST_DATABASE_URL"], lambda url: psycopg.connect(url, connect_timeout=5).close()),
        ("TEST_REDIS_URL", os.environ["TEST_REDIS_URL"], lambda url: redis.Redis.from_url(url, socket_timeout=5).ping()),
    ):
        try:
            probe(url)
        except (psycopg.Error, redis.RedisError) as error:
            missing += 1
            sys.stderr.write(f"{name}={url} does not answer: {error}\nStart the server, or set {name} to where it is.\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
