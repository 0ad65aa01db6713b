"""STreeD (van der Linden et al.). Its defaults have all of its bounds and the dataset cache on."""

PACKAGES = ("pystreed==1.4.0",)
PYTHONS = ("3.12", "3.11", "3.10")


def prepare(table, job):
    from pystreed import STreeDClassifier

    if job["leaf_penalty"] != 0 or job["max_depth"] is None:
        # Its sparsity cost is known to miss the optimum, and it needs a depth.
        raise ValueError("pystreed is only measured without a leaf penalty and with a depth limit")
    model = STreeDClassifier(
        optimization_task="accuracy",
        max_depth=job["max_depth"],
        time_limit=job["limit"],
        **job["options"],
    )
    # Its own type, so that fit has nothing to convert.
    return model, table["X"].astype("int32"), table["y"].astype("int32")


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
