"""What all tests share."""

import signal

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


@pytest.fixture(autouse=True)
def default_handler():
    """Processes that a shell starts in the background, and their children, ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
