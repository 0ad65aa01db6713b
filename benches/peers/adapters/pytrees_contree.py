"""pytrees-rs (Kiossou et al.): its ConTree in Rust. The defaults have the depth-two solver on."""

from peers.adapters import pytrees
# The classifiers of the package answer alike.
from peers.adapters.pytrees import answer, fit  # noqa: F401

PACKAGES, PYTHONS = pytrees.PACKAGES, pytrees.PYTHONS


def prepare(table, job):
    from pytrees import ConTreeClassifier

    if job["leaf_penalty"] != 0 or job["max_depth"] is None:
        raise ValueError("ConTree of pytrees-rs has no leaf penalty and needs a depth limit")
    model = ConTreeClassifier(
        max_depth=job["max_depth"], max_time=float(job["limit"]), **job["options"]
    )
    return model, table["X"].astype("float64"), table["y"]
