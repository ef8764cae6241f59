"""The resource gateway: what agents may read of upstream servers, how often, from which cache, and what happens when one fails.

A Django app of its own with tables, REST and desk. It knows no MCP: it asks upstreams through the protocol in `reach`. May import
config, sources and citations.
"""
