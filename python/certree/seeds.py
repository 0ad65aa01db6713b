"""Seeds for models that are fitted inside of a fit, so that two equal fits give the same tree."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state


def seeded(model: Any, seed: int) -> Any:
    """The model, with the seed wherever it takes one and has none, also inside a pipeline."""
    parameters = model.get_params()
    names = [name for name in parameters if name.rpartition("__")[2] == "random_state"]
    return model.set_params(**{name: seed for name in names if parameters[name] is None})


def fixed(random_state: Any) -> int:
    """A number that is drawn once, so that all folds and models of one fit are the same at every
    use."""
    return int(check_random_state(random_state).randint(2**31 - 1))


def seed_of(random_state: Any) -> int:
    """The number itself if it is one, so that 0 stands for models with ``random_state=0``; else one
    that is drawn once."""
    if isinstance(random_state, int):
        return random_state
    if random_state is not None and hasattr(random_state, "__index__"):
        return int(random_state)
    return fixed(random_state)
