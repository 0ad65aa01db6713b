"""Rows that lie in partitions: each is read where it is, and what they say is merged.

Nothing here knows what moves partitions and results. Reading order: ``reading`` (one partition's
columns, ranked) → ``survey`` (which values there are) → ``counts`` (what they weigh, where that
decides about cuts) → ``entries`` (points and targets, counted) → ``merged`` (what a fit takes).

Whoever has partitions asks for a survey of each, merges them, and so on from step to step. Each
merge takes any number of results and gives one of the same kind, in any order, so that they may
be merged as a tree.
"""
