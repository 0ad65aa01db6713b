"""STreeD (van der Linden et al.). Its defaults have all of its bounds and the dataset cache on."""

PACKAGES = ("pystreed==1.4.0",)
PYTHONS = ("3.12", "3.11", "3.10")

FAIRNESS = {"parity": "group-fairness", "opportunity": "equality-of-opportunity"}


def prepare(table, job):
    import numpy
    from pystreed import STreeDClassifier, STreeDGroupFairnessClassifier, STreeDPrescriptivePolicyGenerator

    from peers.tasks import MOST_DIFFERENCE

    if job["leaf_penalty"] != 0 or job["max_depth"] is None:
        # Its sparsity cost is known to miss the optimum, and it needs a depth.
        raise ValueError("pystreed is only measured without a leaf penalty and with a depth limit")
    limits = dict(max_depth=job["max_depth"], time_limit=job["limit"], **job["options"])
    # Its own type, so that fit has nothing to convert.
    X, y = table["X"].astype("int32"), table["y"].astype("int32")
    if job["task"] in ("dm", "ipw", "dr"):
        # Known to return trees that are not the best, and to call them optimal, where scores are not 0 or 1.
        model = STreeDPrescriptivePolicyGenerator(teacher_method=job["task"].upper(), **limits)
        y = numpy.column_stack([y, table["outcome"], table["propensity"], table["predicted"]])
    elif job["task"] in FAIRNESS:
        # The first column is the sensitive one; it does not split on it.
        X = numpy.column_stack([table["sensitive"], X]).astype("int32")
        model = STreeDGroupFairnessClassifier(FAIRNESS[job["task"]], discrimination_limit=MOST_DIFFERENCE, **limits)
    else:
        task = {"f1": "f1-score"}.get(job["task"], job["task"])
        model = STreeDClassifier(optimization_task=task, **limits)
    return model, X, y


def fit(prepared):
    model, X, y = prepared
    return model.fit(X, y)


def answer(model, prepared):
    _, X, _ = prepared
    if not model.is_fitted():
        return {"predictions": None, "leaves": None, "optimal": False, "detail": {}}
    return {
        "predictions": model.predict(X),
        "leaves": count_leaves(model.get_tree()),
        "optimal": bool(model.fit_result.is_optimal()),
        "detail": {},
    }


def count_leaves(node):
    if node.is_leaf_node():
        return 1
    return count_leaves(node.left_child) + count_leaves(node.right_child)
