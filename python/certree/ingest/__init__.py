"""From the user's frame to typed columns: polars, pandas, Arrow and numpy in, arrays and points out."""

from certree.ingest.slots import slot_arrays

__all__ = ["slot_arrays"]
