"""The solvers that can be measured: a name, its adapter, and options given to it on top of its
defaults.

Each peer stands here with its defaults under its own name, and with the other settings its
documentation recommends under names of their own, so that nobody need wonder whether it was held
back.
"""

import importlib
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Solver:
    name: str
    adapter: str
    options: dict = field(default_factory=dict)

    def module(self):
        return importlib.import_module(f"peers.adapters.{self.adapter}")


SOLVERS = {
    solver.name: solver
    for solver in (
        Solver("certree", "certree", {"n_jobs": 1}),
        Solver("certree-2-threads", "certree", {"n_jobs": 2}),
        Solver("pystreed", "pystreed"),
        Solver(
            "pystreed-branch-cache",
            "pystreed",
            {"use_branch_caching": True, "use_dataset_caching": False},
        ),
        # Its fairness tasks have no dataset cache.
        Solver("pystreed-fair", "pystreed"),
        # Neither has its task of test costs, and branches are always cached there.
        Solver("pystreed-costs", "pystreed"),
        Solver("pystreed-regression", "pystreed"),
        Solver("gosdt", "gosdt"),
        Solver("gosdt-no-similar-support", "gosdt", {"similar_support": False}),
        Solver("pydl85", "pydl85"),
        Solver("pydl85-gain-order", "pydl85", {"desc": True}),
        Solver("pytrees", "pytrees"),
        Solver("pytrees-gain-order", "pytrees", {"heuristic": "information_gain"}),
        Solver("pytrees-contree", "pytrees_contree"),
        Solver("pytrees-contree-gini-order", "pytrees_contree", {"sort_by_heuristic": True}),
        Solver("pycontree", "pycontree"),
    )
}
