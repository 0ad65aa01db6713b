"""``certree export``: a saved tree as code, as a picture, or for another program."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from certree.cli.common import load
from certree.export.to_sql import Dialect
from certree.export.walk import Output
from certree.tree import Tree

#: By format: a writer, given the tree, what to answer and the SQL dialect.
FORMATS: dict[str, Callable[[Tree, Output, Dialect], str | bytes]] = {
    "c": lambda tree, output, dialect: tree.to_c(output),
    "dot": lambda tree, output, dialect: tree.to_dot(),
    "javascript": lambda tree, output, dialect: tree.to_javascript(output),
    "json": lambda tree, output, dialect: tree.to_json(),
    "onnx": lambda tree, output, dialect: bytes(tree.to_onnx().SerializeToString()),
    "pmml": lambda tree, output, dialect: tree.to_pmml(),
    "python": lambda tree, output, dialect: tree.to_python(output),
    "rust": lambda tree, output, dialect: tree.to_rust(output),
    "sql": lambda tree, output, dialect: tree.to_sql(output, dialect),
    "svg": lambda tree, output, dialect: tree.to_svg(),
    "text": lambda tree, output, dialect: tree.to_text(),
}

#: Options that only some formats have.
ONLY_FOR = {"answer": ("sql", "python", "c", "javascript", "rust"), "dialect": ("sql",)}


def add_options(export: argparse.ArgumentParser) -> None:
    export.add_argument("model", type=Path, help="a tree that `certree fit --model` wrote")
    export.add_argument(
        "--to", required=True, choices=sorted(FORMATS), help="what to write", dest="format"
    )
    export.add_argument(
        "--answer",
        choices=get_args(Output),
        help="of sql and of code: the label (the default), the share of each class, or the leaf",
    )
    export.add_argument("--dialect", choices=get_args(Dialect), help="of sql (duckdb)")
    export.add_argument(
        "--output", type=Path, metavar="FILE", help="write here, not to the terminal"
    )


def run(options: argparse.Namespace) -> None:
    given = vars(options)
    for option, formats in ONLY_FOR.items():
        if option in given and options.format not in formats:
            raise ValueError(f"--{option} is for --to {', '.join(formats)}")
    if options.format == "onnx" and "output" not in given:
        raise ValueError("--to onnx writes bytes: say where with --output FILE")
    tree = load(options.model)
    written = FORMATS[options.format](
        tree, given.get("answer", "label"), given.get("dialect", "duckdb")
    )
    if "output" not in given:
        assert isinstance(written, str)
        sys.stdout.write(written if written.endswith("\n") else f"{written}\n")
    elif isinstance(written, bytes):
        options.output.write_bytes(written)
    else:
        options.output.write_text(written, encoding="utf-8")
