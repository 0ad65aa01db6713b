"""What is measured: each setting is a list of problems, the peers that can solve them, and who
stands beside them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    name: str
    # What is optimized: a name in `peers/tasks.py`.
    task: str = "accuracy"
    depths: tuple = (None,)
    penalties: tuple = (0.0,)
    peers: tuple = ()
    # Sets with more features than this are left out.
    max_features: int = 10**9
    # Only these sets, if any are named.
    sets: tuple = ()
    # The solver that runs right after the peer, and is compared with it.
    beside: str = "certree"
    # The second solver is not run where the first took less: there is nothing to share among
    # threads.
    skip_below: float = 0.0


DEPTH_PEERS = ("pystreed", "pydl85", "pytrees")
SPARSE_PENALTIES = (0.02, 0.01, 0.005, 0.002)

SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("accuracy-depth2", depths=(2,), peers=DEPTH_PEERS),
        Setting("accuracy-depth3", depths=(3,), peers=DEPTH_PEERS),
        Setting("accuracy-depth4", depths=(4,), peers=DEPTH_PEERS),
        Setting("accuracy-depth5", depths=(5,), peers=("pystreed",)),
        Setting("f1-depth3", "f1", depths=(3,), peers=("pystreed",)),
        Setting("f1-depth4", "f1", depths=(4,), peers=("pystreed",)),
        *(
            Setting(
                f"continuous-depth{depth}", depths=(depth,), peers=("pycontree", "pytrees-contree")
            )
            for depth in (2, 3, 4)
        ),
        # A few cuts of each column: the peer takes Boolean features only.
        Setting("regression-depth3", "squared_error", depths=(3,), peers=("pystreed-regression",)),
        Setting("regression-depth4", "squared_error", depths=(4,), peers=("pystreed-regression",)),
        # The peer calls its task accuracy-flex.
        *(
            Setting(f"{impurity}-depth{depth}", impurity, depths=(depth,), peers=("pystreed",))
            for impurity in ("gini", "entropy")
            for depth in (3, 4)
        ),
        *(
            Setting(f"survival-depth{depth}", "survival", depths=(depth,), peers=("pystreed",))
            for depth in (3, 4, 5)
        ),
        # No peer has it: to be read beside the seconds of accuracy-depth4.
        Setting("mcc-depth4", "mcc", depths=(4,), peers=("certree",)),
        Setting("policy-dm", "dm", depths=(4, 5), peers=("pystreed",)),
        Setting("policy-ipw", "ipw", depths=(4, 5), peers=("pystreed",)),
        Setting("policy-dr", "dr", depths=(4, 5), peers=("pystreed",)),
        Setting("parity-depth3", "parity", depths=(3,), peers=("pystreed-fair",)),
        Setting("opportunity-depth3", "opportunity", depths=(3,), peers=("pystreed-fair",)),
        *(
            Setting(f"cost-{level}-depth4", f"cost-{level}", depths=(4,), peers=("pystreed-costs",))
            for level in ("low", "middle", "high")
        ),
        Setting("sparse", penalties=SPARSE_PENALTIES, peers=("gosdt",), max_features=60),
        # Harder still, on a set that it takes seconds on.
        Setting(
            "sparse-least", penalties=(0.001,), peers=("gosdt",), max_features=60, sets=("vote",)
        ),
        Setting(
            "threads-depth",
            depths=(4, 5),
            peers=("certree",),
            beside="certree-2-threads",
            skip_below=1.0,
        ),
        Setting(
            "threads-sparse",
            penalties=SPARSE_PENALTIES,
            peers=("certree",),
            max_features=60,
            beside="certree-2-threads",
            skip_below=1.0,
        ),
    )
}


@dataclass(frozen=True)
class Case:
    setting: str
    set: str
    max_depth: int | None
    leaf_penalty: float
    task: str = "accuracy"

    def __str__(self):
        depth = "" if self.max_depth is None else f" depth {self.max_depth}"
        penalty = "" if self.leaf_penalty == 0 else f" λ={self.leaf_penalty:g}"
        return f"{self.set}{depth}{penalty}"


def cases_of(setting, tables):
    """The problems of a setting on the given tables, the quick sets first so that figures come
    early."""
    chosen = [table for table in tables if table.features <= setting.max_features]
    chosen = [table for table in chosen if not setting.sets or table.name in setting.sets]
    chosen.sort(key=lambda table: table.rows * table.features**2)
    return [
        Case(setting.name, table.name, depth, penalty, setting.task)
        for penalty in setting.penalties
        for depth in setting.depths
        for table in chosen
    ]
