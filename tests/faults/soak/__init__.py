"""The whole system under load while something goes wrong: `make soak`, or `python -m tests.faults.soak [SCENARIO…]`. Linux only.

`scenarios/`: what is done and what must hold · `load`: clients · `witness`: whether what they are told is true · `wires`:
installations and their processes · `services`: databases of our own that may be stopped ·
`writer`, `publisher`: processes that write.
"""
