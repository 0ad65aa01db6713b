"""``certree predict`` and ``certree show``: a saved tree, over a table or in words."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import polars as pl

from certree import tables
from certree.cli.common import about, add_csv, csv_of, load
from certree.conditions import printable


def add_options(predict: argparse.ArgumentParser) -> None:
    predict.add_argument("model", type=Path, help="a tree that `certree fit --model` wrote")
    predict.add_argument("data", type=Path, help=f"the table to predict ({tables.SOURCES})")
    predict.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help=f"write here ({tables.ENDINGS}), not to the terminal",
    )
    predict.add_argument(
        "--proba", action="store_true", help="also the share of each class in the row's leaf"
    )
    add_csv(predict)


def run(options: argparse.Namespace) -> None:
    given = vars(options)
    tree = load(options.model)
    used = sorted({node.split.column_index for node in tree.nodes if node.split})
    frame = tables.read(options.data, csv_of(given), [tree.columns[place] for place in used])
    answers = tree.predict(frame)
    if answers.ndim == 1:
        if answers.dtype.kind in "SO":
            answers = [v.decode() if isinstance(v, bytes) else v for v in answers.tolist()]
        out = pl.DataFrame({"prediction": answers})
    else:
        out = pl.DataFrame(answers, schema=[f"prediction of {name}" for name in tree.labels])
    if given.get("proba", False):
        shares = tree.predict_proba(frame)
        out = out.with_columns(
            pl.Series(f"probability of {label}", shares[:, k])
            for k, label in enumerate(tree.labels.tolist())
        )
    if "output" in given:
        tables.write(out, options.output)
    else:
        text = out.write_csv()
        sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def show(options: argparse.Namespace) -> None:
    tree = load(options.model)
    print(tree.to_text(), end="")
    statement = about(options.model)
    if statement is not None:
        print(f"\nWhen it was fitted:\n{printable(statement)}")
