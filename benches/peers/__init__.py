"""The parts of `benches/peers.py`; see there how to run it."""
