"""What all tests share."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture
def one_thread():
    """Keeps the numerical libraries to one thread: theirs spin, and take long where the cores are
    busy."""
    with threadpool_limits(1):
        yield
