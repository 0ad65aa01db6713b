"""ConTree (Briţa et al.), in C++. Its defaults have its bounds and the depth-two solver on; a
minimum of rows it has not."""

PACKAGES = ("pycontree==1.0.8",)
PYTHONS = ("3.12", "3.11", "3.10")


def prepare(table, job):
    from pycontree import ConTree

    if job["max_depth"] is None:
        raise ValueError("pycontree needs a depth limit")
    model = ConTree(
        max_depth=job["max_depth"],
        complexity_cost=job["leaf_penalty"],
        time_limit=float(job["limit"]),
        **job["options"],
    )
    # Its own types, so that fit has nothing to convert.
    return model, table["X"].astype("float64"), table["y"].astype("int32")


def fit(prepared):
    model, X, y = prepared
    return model.fit(X, y)


def answer(model, prepared):
    _, X, _ = prepared
    return {
        "predictions": model.predict(X),
        "leaves": model.tree_.get_num_leaf_nodes(),
        "optimal": bool(model._config.is_within_time_limit()),
        "detail": {},
    }
