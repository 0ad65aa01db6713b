"""The examples in docstrings run and print what they say."""

import doctest
import importlib
import pkgutil

import pytest

import certree

MODULES = [
    found.name
    for found in pkgutil.walk_packages(certree.__path__, "certree.")
    if not found.name.endswith(("_core", "__main__"))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
