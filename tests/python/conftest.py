"""What all tests share."""

import pytest
from threadpoolctl import threadpool_limits

from certree import budget


@pytest.fixture
def one_thread():
    """Keeps the numerical libraries to one thread: theirs spin, and take long where the cores are
    busy."""
    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True)
def reading_is_not_cut_short(monkeypatch):
    """However slow the machine is, a time limit of next to nothing stops the search and not the
    reading before it, so that tests know what a stopped fit has. `test_limits.py` says otherwise.
    """
    monkeypatch.setattr(budget, "GRACE", 30.0)
