"""Provably optimal decision trees, with a certificate."""

from certree._core import __version__

__all__ = ["__version__"]
