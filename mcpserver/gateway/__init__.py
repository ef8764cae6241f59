"""The resource gateway: resources of upstream servers, with limits, a cache, fallbacks and an account of each answer.

A Django app with tables, REST, desk and a server card. It asks upstreams through `mcpserver.upstreams`, and may import the wire.
"""
