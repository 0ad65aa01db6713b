"""pytrees-rs (Kiossou et al.): DL8.5 in Rust, with the depth-two solver and the similarity bound
on."""

PACKAGES = ("pytrees-rs==2.0.0",)
PYTHONS = ("3.12", "3.11", "3.10")


def prepare(table, job):
    from pytrees import DL85Classifier

    if job["leaf_penalty"] != 0 or job["max_depth"] is None:
        raise ValueError("pytrees-rs has no leaf penalty and needs a depth limit")
    model = DL85Classifier(
        max_depth=job["max_depth"],
        min_sup=1,
        max_time=float(job["limit"]),
        **job["options"],
    )
    return model, table["X"].astype("float64"), table["y"]


def fit(prepared):
    model, X, y = prepared
    return model.fit(X, y)


def answer(model, prepared):
    _, X, _ = prepared
    found = model.tree_ is not None
    statistics = {
        key: float(value)
        for key, value in model.statistics_.items()
        if isinstance(value, (int, float))
    }
    return {
        "predictions": model.predict(X) if found else None,
        "leaves": count_leaves(model.tree_) if found else None,
        "optimal": found and model.status_ == "optimal",
        "detail": statistics,
    }


def count_leaves(tree):
    return sum(1 for child in tree.children_left if child < 0)
