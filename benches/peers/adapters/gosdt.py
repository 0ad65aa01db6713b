"""GOSDT (Lin et al., McTavish et al.). Its defaults have all of its bounds on and one worker."""

# With scikit-learn 1.8 or later its predict fails: an argument it passes is gone.
PACKAGES = ("gosdt==1.0.4", "scikit-learn==1.6.1")
PYTHONS = ("3.12", "3.11", "3.10")


def prepare(table, job):
    import pandas
    from gosdt import GOSDTClassifier

    model = GOSDTClassifier(
        regularization=job["leaf_penalty"],
        # Without it a penalty below 1/rows is raised to 1/rows: another problem than the one asked
        # for.
        allow_small_reg=True,
        depth_budget=job["max_depth"],
        time_limit=int(job["limit"]),
        **job["options"],
    )
    X = pandas.DataFrame(table["X"], columns=table["names"])
    return model, X, table["y"], table.get("reference")


def fit(prepared):
    model, X, y, reference = prepared
    return model.fit(X, y, y_ref=reference)


def answer(model, prepared):
    _, X, *_ = prepared
    result = model.result_
    return {
        "predictions": model.predict(X),
        "leaves": count_leaves(model.trees_[0].tree),
        "optimal": str(result.status).endswith("CONVERGED"),
        "detail": {
            "graph_size": int(result.graph_size),
            "iterations": int(result.n_iterations),
            "status": str(result.status),
        },
    }


def count_leaves(node):
    if hasattr(node, "prediction"):
        return 1
    return count_leaves(node.left_child) + count_leaves(node.right_child)
