"""certree itself, from the interpreter given by `--certree-python`: nothing is installed for it."""

PACKAGES = ()
PYTHONS = ()


def prepare(table, job):
    import polars
    from certree import OptimalTreeClassifier

    model = OptimalTreeClassifier(
        objective="accuracy",
        leaf_penalty=job["leaf_penalty"],
        max_depth=job["max_depth"],
        time_limit=float(job["limit"]),
        # The bench stops the process at this size, libraries and data included: leave room for them.
        memory_limit=0.9 * job["memory"],
        **job["options"],
    )
    X = polars.DataFrame({name: table["X"][:, i] for i, name in enumerate(table["names"])})
    return model, X, table["y"]


def fit(prepared):
    model, X, y = prepared
    return model.fit(X, y)


def answer(model, prepared):
    _, X, _ = prepared
    certificate = model.certificate_
    return {
        "predictions": model.predict(X),
        "leaves": int(model.get_n_leaves()),
        "optimal": model.status_ == "optimal",
        "detail": {
            "status": model.status_,
            "objective": float(model.objective_),
            "lower_bound": float(model.lower_bound_),
            "nodes": int(certificate.nodes),
            "kernel_calls": int(certificate.kernel_calls),
            "peak_bytes": int(certificate.peak_bytes),
        },
    }
