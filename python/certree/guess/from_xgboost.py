"""The splits of XGBoost: values are 32-bit floats, and go left if they are *below* the threshold.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from certree.guess.splits import Collector, Splits, no_sets, refuse


def read(model: Any) -> Splits:
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    # Prediction ends at the best round, too.
    best = booster.attr("best_iteration")
    if best is not None:
        booster = booster[: int(best) + 1]
    learner = json.loads(booster.save_raw("json"))["learner"]
    boosted = learner["gradient_booster"]
    boosted = boosted.get("gbtree", boosted)
    if "trees" not in boosted.get("model", {}):
        raise refuse(model)
    found = Collector(np.float32, strict=True)
    for tree in boosted["model"]["trees"]:
        inner = np.asarray(tree["left_children"]) >= 0
        if np.asarray(tree["split_type"])[inner].any():
            raise no_sets()
        # The text holds the shortest decimals of 32-bit floats.
        thresholds = np.asarray(tree["split_conditions"], dtype=np.float32)
        found.add(
            np.asarray(tree["split_indices"])[inner],
            thresholds[inner],
            np.asarray(tree["loss_changes"])[inner],
        )
    sizes = learner["learner_model_param"]
    return found.splits(max(1, int(sizes["num_class"])))
