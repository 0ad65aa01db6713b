"""Guesses taken from a reference model: cuts that are worth searching, and a depth.

Reading order: ``guesser`` (the transformer) → ``table`` (columns by rank, and target) →
``references`` (fitting them) → ``splits`` (what a fitted model tests; one ``from_...`` file for
each library) → ``questions`` (splits as certree's cuts) → ``eliminate``. ``depth`` stands alone. No
other library is imported before a model of it is given.
"""

from certree.guess.depth import depth_gap, suggest_depth
from certree.guess.guesser import ThresholdGuesser

__all__ = ["ThresholdGuesser", "depth_gap", "suggest_depth"]
