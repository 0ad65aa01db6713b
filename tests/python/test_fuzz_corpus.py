"""The corpus of the fuzzers, read once as it is and in a few hundred damaged forms:
``tests/fuzz/run.py`` takes longer."""

import random
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))

import mutate  # noqa: E402
import readers  # noqa: E402

#: Damaged files hold values that training had not.
pytestmark = pytest.mark.filterwarnings("ignore:values that were not there")

CORPUS = {name: sorted((FUZZ / "corpus" / name).glob("*")) for name in readers.READERS}


@pytest.mark.parametrize(
    "name, path",
    [(name, path) for name, paths in CORPUS.items() for path in paths],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_the_corpus_is_read(name, path):
    how = readers.READERS[name](path.read_bytes()).partition(",")[0]
    assert how in ("read", "fitted", "refused")


@pytest.mark.parametrize(
    "name, cases", [("json", 400), ("csv", 40), ("parquet", 15), ("frames", 40)]
)
def test_damaged_files_are_answered_or_refused(name, cases):
    rng = random.Random(0)
    corpus = [path.read_bytes() for path in CORPUS[name]]
    for _ in range(cases):
        case = mutate.case(name, corpus, rng)
        readers.READERS[name](case)
