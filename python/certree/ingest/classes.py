"""Classes that are named beforehand, because rows to fit may lack some of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from certree.ingest import engine, target, vectors
from certree.ingest.in_memory import InMemory
from certree.ingest.merged import Merged
from certree.ingest.training import Streamed, Training


def read_classes(given: Any) -> np.ndarray:
    """The labels in order."""
    return target.classes_of(vectors.series(given, "classes"), "classes", given)[0]


def places_of(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The place of each label among the classes."""
    known = {label: place for place, label in enumerate(classes.tolist())}
    strange = [label for label in labels.tolist() if label not in known]
    if strange:
        raise ValueError(
            f"y has the labels {strange[:10]!r}, which classes= does not name: it names "
            f"{list(known)[:10]!r}"
        )
    return np.array([known[label] for label in labels.tolist()], dtype=np.uint32)


def with_classes(training: Training, given: Any) -> Training:
    """These rows, with the classes that are named in place of those that they have."""
    if given is None:
        return training
    classes = read_classes(given)
    places = places_of(training.labels, classes)
    if isinstance(training, Merged):
        return replace(training, labels=classes, classes=places[training.classes])
    if isinstance(training, InMemory):
        assert training.classes is not None
        return replace(training, labels=classes, classes=places[training.classes])
    assert isinstance(training, Streamed)
    found = pl.Series(range(len(places)), dtype=pl.UInt32)
    wanted = pl.Series(places, dtype=pl.UInt32)
    column = engine.column(training.class_column)
    code = column.replace_strict(found, wanted, return_dtype=pl.UInt32)
    frame = training.frame.with_columns(code.alias(training.class_column))
    return replace(training, labels=classes, source=frame)
