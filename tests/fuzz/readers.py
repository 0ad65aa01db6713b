"""What is fuzzed: each reader takes bytes, says in a word how it ended, and raises whatever users
are not promised."""

from __future__ import annotations

import contextlib
import io
import random
import tempfile
import warnings
from pathlib import Path

import polars as pl

from certree import OptimalTreeClassifier, cli
from certree.tree import Tree

ALPHABET = [
    "a",
    "b",
    "^",
    "$",
    ".*",
    "*",
    "",
    "\0",
    "\n",
    "\x1b",
    "é",
    "\u202e",
    '"',
    "\\",
    ",",
    " ",
    "0",
    "(",
    "]",
]


def harmless(text: str) -> bool:
    """Whether no character of it commands a terminal."""
    return all(character == "\n" or character.isprintable() for character in text)


def read_json(data: bytes) -> str:
    """A tree that can be used, or a ValueError."""
    try:
        tree = Tree.from_json(data)
    except ValueError as error:
        assert harmless(str(error)) and len(str(error)) < 5_000, "an error that cannot be printed"
        return "refused"
    assert Tree.from_json(tree.to_json()) == tree, "the tree does not come back"
    shown = [tree.to_text(), tree.to_dot(), repr(tree), *map(str, tree.rules())]
    assert all(map(harmless, shown)), "text that commands a terminal"
    assert tree.n_leaves == (len(tree.nodes) + 1) // 2 and tree.depth < len(tree.nodes)
    for output in ("label", "leaf", *(("proba",) if tree.task == "classification" else ())):
        try:
            tree.to_polars(output)
        except (ValueError, pl.exceptions.PolarsError):
            return "read, but no expression"
    return "read" if _agrees(tree) else "read, of unknown types"


#: Values of each type that thresholds and categories may lie between.
VALUES = {
    **{name: [-128, 0, 1, 127] for name in ("Int8", "Int16", "Int32")},
    **{name: [0, 1, 2, 255] for name in ("UInt8", "UInt16", "UInt32")},
    "Int64": [-(2**63), 38, 2**53 + 1, 2**63 - 1],
    "UInt64": [0, 38, 2**53 + 1, 2**64 - 1],
    "Float64": [-1e308, 38.5, 0.1, 5e-324],
    "Float32": [-1e38, 38.5, 0.1, 5.9498998],
    "Boolean": [True, False, True, False],
    "String": ["", "female", "first", "b"],
    "Date": [-(2**31), 0, 18691, 2**31 - 1],
}
KINDS = {"Boolean": "boolean", "String": "category", "Date": "date"}


def _agrees(tree: Tree) -> bool:
    """Whether rows could be made for the tree. Prediction and expression must send them to one
    leaf."""
    columns = {}
    for column in tree.columns:
        if column.dtype not in VALUES or column.kind != KINDS.get(column.dtype, "number"):
            return False
        dtype = pl.Int32 if column.dtype == "Date" else getattr(pl, column.dtype)
        columns[column.name] = pl.Series(VALUES[column.dtype], dtype=dtype)
        if column.dtype == "Date":
            columns[column.name] = columns[column.name].cast(pl.Date)
    frame = pl.DataFrame(columns)
    if frame.width:
        scored = frame.lazy().select(tree.to_polars("leaf")).collect().to_series()
        assert scored.to_list() == tree.apply(frame).tolist(), "the expression differs"
    return True


def read_csv(data: bytes) -> str:
    return _command(data, "t.csv")


def read_parquet(data: bytes) -> str:
    return _command(data, "t.parquet")


def _command(data: bytes, name: str) -> str:
    """The command line answers, or says in one line what is wrong."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table, model = Path(folder) / name, Path(folder) / "m.json"
        table.write_bytes(data)
        line = ["fit", str(table), "--target", "ill", "--max-depth", "1", "--quiet"]
        line += ["--time-limit", "2", "--model", str(model)]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main(line)
            again = cli.main(["predict", str(model), str(table)]) if code == 0 else 0
    errors = [
        text for text in err.getvalue().splitlines() if not text.startswith("certree: note: ")
    ]
    assert harmless(err.getvalue()), "an error that commands a terminal"
    if code == 0:
        assert again == 0, f"the tree does not read its own table: {err.getvalue()}"
        return "fitted"
    assert code == 2 and len(errors) == 1 and errors[0].startswith(
        "certree: error: "
    ), err.getvalue()
    return "refused"


def read_frames(data: bytes) -> str:
    """A frame of odd names and values: the same tree and the same answers on every path, or one
    ValueError."""
    rng = random.Random(int(data))
    frame, labels, weights = _frame(rng)
    names = frame.columns
    trees = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for lazy in (False, True):
            columns = {"y": labels, "w": weights}
            # Names that the frame does not have.
            y, w = (
                next(n for n in (role, role * 2, role * 3) if n not in names) for role in columns
            )
            X = frame.with_columns(pl.Series(y, labels), pl.Series(w, weights))
            # No limit of time, because on a busy machine that gives different trees; a fit that
            # does not end is found by its processor time.
            model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.001, time_limit=None)
            try:
                trees.append(model.fit(X.lazy() if lazy else X, y, w).tree_)
            except ValueError as error:
                assert harmless(str(error)), "an error that commands a terminal"
                trees.append(type(error).__name__ + str(error))
    assert trees[0] == trees[1], "the streamed path differs from the one in memory"
    if isinstance(trees[0], str):
        return "refused"
    tree = trees[0]
    again = Tree.from_json(tree.to_json())
    assert again == tree, "the tree does not come back"
    wanted = tree.predict(frame).tolist()
    assert again.predict(frame.lazy()).tolist() == wanted, "prediction differs"
    scored = frame.lazy().select(tree.to_polars()).collect().to_series().to_list()
    assert scored == wanted, "the expression differs"
    assert harmless(tree.to_text() + tree.to_dot() + repr(tree)), "text that commands a terminal"
    return "fitted"


def _frame(rng: random.Random) -> tuple[pl.DataFrame, list[str], list[float]]:
    n = rng.choice((1, 2, 5, 30))

    def word() -> str:
        return "".join(rng.choice(ALPHABET) for _ in range(rng.choice((0, 1, 2, 3))))

    def many(make: object) -> list[object]:
        return [make() for _ in range(n)]

    numbers = (0, 1, -1, 0.5, -0.0, 1e308, -1e308, 5e-324, 2**53, 0.1, 1e-9)
    kinds = [
        lambda: pl.Series(many(lambda: rng.choice(numbers)), dtype=pl.Float64, strict=False),
        lambda: pl.Series(
            many(lambda: rng.choice(numbers)), dtype=pl.Float64, strict=False
        ).cast(pl.Float32),
        lambda: pl.Series(
            many(lambda: rng.choice((0, 1, -(2**63), 2**63 - 1, 2**53 + 1))), dtype=pl.Int64
        ),
        lambda: pl.Series(many(lambda: rng.choice((0, 1, 255))), dtype=pl.UInt8),
        lambda: pl.Series(many(lambda: rng.random() < 0.5), dtype=pl.Boolean),
        lambda: pl.Series(many(word), dtype=pl.String),
        lambda: pl.Series(many(word), dtype=pl.Categorical),
        lambda: pl.Series(
            many(lambda: rng.randrange(-(10**5), 10**5)), dtype=pl.Int32
        ).cast(pl.Date),
        lambda: pl.Series(
            many(lambda: rng.randrange(-(10**15), 10**15))
        ).cast(pl.Datetime("us", "Asia/Tokyo")),
        lambda: pl.Series(many(lambda: rng.choice((None, 1.0))), dtype=pl.Float64),
        lambda: pl.Series(
            many(lambda: rng.choice((float("nan"), float("inf"), 1.0))), dtype=pl.Float64
        ),
    ]
    columns = {word(): rng.choice(kinds)() for _ in range(rng.choice((1, 2, 4)))}
    labels = [word() for _ in range(2)]
    weights = many(lambda: rng.choice((0.0, 1.0, 0.25, 0.1, 1 / 3)))
    return pl.DataFrame(columns), many(lambda: rng.choice(labels)), weights


READERS = {"json": read_json, "csv": read_csv, "parquet": read_parquet, "frames": read_frames}
