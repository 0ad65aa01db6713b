"""PyDL8.5 (Aglin et al.). Its defaults have the cache, the depth-two solver and the similarity
bound on."""

PACKAGES = ("pydl8.5==0.1.8", "scikit-learn==1.6.1")
PYTHONS = ("3.9", "3.8")


def prepare(table, job):
    import dl85Optimizer  # noqa: F401  fit imports it, which is not to be timed
    from pydl85 import DL85Classifier

    if job["leaf_penalty"] != 0 or job["max_depth"] is None:
        raise ValueError("pydl8.5 has no leaf penalty and needs a depth limit")
    model = DL85Classifier(
        max_depth=job["max_depth"],
        min_sup=1,
        time_limit=int(job["limit"]),
        **job["options"],
    )
    return model, table["X"].astype("int32"), table["y"].astype("int32")


def fit(prepared):
    model, X, y = prepared
    return model.fit(X, y)


def answer(model, prepared):
    _, X, _ = prepared
    found = model.tree_ is not None
    return {
        "predictions": model.predict(X) if found else None,
        "leaves": count_leaves(model.tree_) if found else None,
        "optimal": found and not model.timeout_,
        "detail": {"cache_size": model.lattice_size_, "search_seconds": model.runtime_},
    }


def count_leaves(node):
    if "feat" not in node:
        return 1
    return count_leaves(node["left"]) + count_leaves(node["right"])
