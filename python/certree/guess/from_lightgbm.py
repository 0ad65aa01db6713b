"""The splits of LightGBM: values are 64-bit floats, and go left if they are at most the threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from certree.guess.splits import Collector, Splits, no_sets


def read(model: Any) -> Splits:
    booster = getattr(model, "booster_", model)
    dump = booster.dump_model()
    found = Collector(np.float64)
    for tree in dump["tree_info"]:
        inner = []
        nodes = [tree["tree_structure"]]
        while nodes:
            node = nodes.pop()
            if "split_feature" in node:
                _check(node)
                inner.append((node["split_feature"], node["threshold"], node["split_gain"]))
                nodes += [node["left_child"], node["right_child"]]
        found.add(*(zip(*inner) if inner else ((), (), ())))
    return found.splits(dump["num_tree_per_iteration"])


def _check(node: dict[str, Any]) -> None:
    if node["decision_type"] != "<=":
        raise no_sets()
    if node["missing_type"] == "Zero":
        raise ValueError(
            "the reference was fitted with zero_as_missing, so its splits are no thresholds; fit "
            "it without"
        )
