"""The resource gateway: resources of upstream servers, with limits, a cache, fallbacks and an account of each answer."""
