"""One file per solver. To add one, write its adapter and name it in `peers/solvers.py`.

An adapter is a module with

    PACKAGES             what to install, pinned
    PYTHONS              Python versions that have wheels of it, best first; () if any will do
    prepare(table, job)  everything a user's program has done before it calls fit; returns what
    `fit` needs fit(prepared)        the one call that is timed; returns the fitted model
    answer(model, prepared)
                         a dict: `predictions` on the training rows, `leaves`, `optimal` (does the
                         solver say it has proved it), and `detail`, figures of the solver's own

`table` has `X` (rows × features, bool), `y` (integer labels from 0) and `names`. `job` has
`max_depth` (None: no limit), `leaf_penalty`, `limit` in seconds, `memory` in bytes and `options`.
The peer itself is imported inside the functions, because the adapters are also read by the parent
process, where it is not installed.
"""
