"""What all tests share."""

import signal

import pytest
from threadpoolctl import threadpool_limits

from certree import budget, frontiers


def pytest_addoption(parser):
    parser.addoption(
        "--speed",
        type=float,
        default=1.0,
        help="as on a machine that is so many times faster, or slower below 1: limits of time are "
        "so many times longer. For tests that are not marked alone, which must hold on any machine",
    )


@pytest.fixture(autouse=True)
def speed_of_the_machine(request, monkeypatch):
    speed = request.config.getoption("--speed")
    if speed == 1.0:
        return
    for limited in (budget.Budget, frontiers.Clock):
        monkeypatch.setattr(limited, "__init__", scaled(limited.__init__, speed))


def scaled(made, speed):
    """The constructor of something that is limited in time, its first argument, with more of it."""

    def longer(self, time, *more, **named):
        made(self, None if time is None else time * speed, *more, **named)

    return longer


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
