"""Both doors side by side with bare ASGI and other servers, on one core: `python -m benchmarks.doors`.

`questions`: what is asked · `servers`: who answers · `load`: how fast · `tables`: what docs/benchmarks.md says.
"""
