"""Estimators with a ``client``, which is a connection and cannot be copied or pickled."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone


class Connected:
    """Clones share the client, and pickles leave it behind."""

    def __sklearn_clone__(self) -> Any:
        model: Any = self
        given = model.get_params(deep=False)
        client = given.pop("client")
        copies = {name: clone(value, safe=False) for name, value in given.items()}
        return type(model)(**copies, client=client)

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()  # type: ignore[misc]
        return {**state, "client": None}
