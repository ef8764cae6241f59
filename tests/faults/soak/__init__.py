"""The whole system under load while something goes wrong: `make soak`, or `python -m tests.faults.soak [SCENARIO…]`. Linux only.

`scenarios/`: what is done and what must hold · `load`: clients · `checker`: whether what they are answered is true · `wires`:
installations and their processes · `writer`: a process that publishes · `outcome`: what a scenario found.
"""
