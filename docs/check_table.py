"""Compares an instance with the table that it was made of, and shows the tree of its proof, without
certree: ``python check_table.py TABLE TARGET INSTANCE PROOF [WEIGHT]``. It needs polars."""

import json
import sys
from collections import Counter
from fractions import Fraction
from typing import Any

import polars as pl


def read(path: str) -> pl.DataFrame:
    if path.endswith(".parquet"):
        return pl.read_parquet(path)
    return pl.read_csv(path, try_parse_dates=True)


def answers(question: dict[str, Any], frame: pl.DataFrame) -> list[int]:
    """What each row answers."""
    column = frame[question["column"]]
    # Dates and moments are compared as the whole numbers that they are stored as.
    physical = column.dtype.is_temporal()
    values = (column.to_physical() if physical else column).to_list()

    def answer(value: Any) -> int:
        if value is None or value != value:
            return int(question["missing"])
        if "above" in question:
            return int(value > question["above"])
        if "is" in question:
            return int(bool(value) == question["is"])
        if "in" in question:
            return int(str(value) in question["in"])
        return int(question["known"])

    return [answer(value) for value in values]


def wrong(what: str) -> int:
    print(f"NOT THE TABLE: {what}")
    return 1


def words(question: dict[str, Any]) -> str:
    return " ".join(f"{name} {json.dumps(value)}" for name, value in question.items())


def of_metric(about: dict[str, Any], positive: int, weighed: Any, total: Any) -> int:
    """Whether the costs of errors are those that make a proof of them one of a ratio N / D, which
    is 1 less the metric: N - (N / D of the tree) * D, but for a constant."""
    missed, alarms = weighed[positive, 1 - positive], weighed[1 - positive, positive]
    positives = missed + weighed[positive, positive]
    square, ratio = Fraction(*about["beta_squared"]), Fraction(*about["ratio"])
    if about["metric"] == "jaccard":
        over, under, costs = missed + alarms, positives + alarms, (Fraction(1), 1 - ratio)
    else:
        over, under = square * missed + alarms, (1 + square) * positives - missed + alarms
        costs = square + ratio, 1 - ratio
    given = about["class_costs"]
    miss, alarm = given[positive][1 - positive], given[1 - positive][positive]
    if over != ratio * under or miss * costs[1] != alarm * costs[0]:
        return wrong(f"the costs are not those of {about['metric']} at the tree")
    print(f"The tree costs {total}; 1 less its {about['metric']} is {ratio} = {float(ratio):.9f}")
    return 0


def sums_of_squares(rows: list[int], read: "Squares") -> tuple[list[Fraction], Fraction]:
    """What rows weigh and the sums of their targets; and their squared errors."""
    of = [Fraction(sum(column)) for column in zip(*(read.sums[row] for row in rows))]
    gained = sum(s * s / of[0] / 2**k for s, k in zip(of[1:], read.shifts))
    return of, sum(read.squares[row] for row in rows) - gained


class Squares:
    """A table of targets as an instance of squares counts it, but in fractions."""

    def __init__(self, frame: pl.DataFrame, targets: str, weight: list[str], about: dict[str, Any]):
        weights = frame[weight[0]].to_list() if weight else [1] * len(frame)
        units = Fraction(about["weight_units"])
        self.weights = [Fraction(own) * units for own in weights]
        self.targets = [frame[name].to_list() for name in targets.split(",")]
        self.shifts = about["shifts"]
        steps = [(Fraction(zero), Fraction(2) ** n) for zero, n in about["targets"]]
        means = [
            [(Fraction(y) - zero) / step for y in column]
            for column, (zero, step) in zip(self.targets, steps, strict=True)
        ]
        # By row: the weight, and for each target its sum; and its squares, in units of cost.
        self.sums = [[w, *(w * d for d in ds)] for w, *ds in zip(self.weights, *means)]
        self.squares = [
            sum(w * d * d / 2**k for d, k in zip(ds, self.shifts))
            for w, *ds in zip(self.weights, *means)
        ]
        self.far = [max(map(abs, column)) for column in means]
        self.penalty = Fraction(repr(about["leaf_penalty"]))

    def most_slack(self, points: Any, head: dict[str, str], own: Any) -> Fraction:
        """By how many units what a tree costs in the instance differs from its errors here, and its
        leaves' penalties, at most. ``own`` are the rows of each point."""
        squares, harm = Fraction(-int(head["offset"])), Fraction(0)
        for bits, rows in own.items():
            weight, *sums = (sum(column) for column in zip(*(self.sums[row] for row in rows)))
            squares += sum(self.squares[row] for row in rows) - points[bits][-1]
            # A sum that is off by e moves what a leaf costs by 2 |mean| e and e² / weight at most.
            counted = points[bits][-1 - len(sums) :]
            for far, shift, s, given in zip(self.far, self.shifts, sums, counted):
                off = abs(s - given)
                harm += (2 * far * off + off * off / weight) / 2**shift
        leaves = min(len(points), int(head.get("leaves", len(points))))
        if head["depth"] != "none":
            leaves = min(leaves, 2 ** min(int(head["depth"]), 32))
        penalty = abs(self.penalty * self.units(head) - int(head["leaf"]))
        return abs(squares) + harm + leaves * (len(self.shifts) + penalty)

    def units(self, head: dict[str, str]) -> Fraction:
        """Of an objective of 1: the errors of all rows as one leaf, if there are any."""
        return sums_of_squares(list(range(len(self.sums))), self)[1] or Fraction(head["units"])


def main(arguments: list[str]) -> int:
    table, target, instance, proof, *weight = arguments
    frame, head, questions, points, about = read(table), {}, [], Counter(), {}
    with open(instance, encoding="utf-8") as lines:
        for line in lines:
            name, _, rest = line.rstrip("\n").partition(" ")
            if name == "question":
                questions.append(json.loads(rest))
            elif name == "about":
                about.update(json.loads(rest))
            elif name == "point":
                bits, *costs = rest.split(" ")
                points[bits] = tuple(map(int, costs))
            else:
                head[name] = rest
    squares = None
    if "targets" in about:
        about["shifts"] = [int(shift) for shift in head["squares"].split()]
        squares = Squares(frame, target, weight, about)
        if any(own.denominator > 1 for own in squares.weights):
            return wrong("this script knows weights alone that are short decimals")
        costs = [[int(own)] for own in squares.weights]
    elif "class_costs" in about:
        # By row: what each label costs, in the units of the instance.
        classes = {name: place for place, name in enumerate(about["classes"])}
        weights = frame[weight[0]].to_list() if weight else [1] * len(frame)
        units = Fraction(about["weight_units"])
        costs = []
        for value, own in zip(frame[target].to_list(), weights):
            if str(value) not in classes:
                return wrong(f"it has a row of the class {value!r}")
            row = about["class_costs"][classes[str(value)]]
            costs.append([round(Fraction(own) * units * cost) for cost in row])
    else:
        return wrong("this script knows costs of classes and squared errors alone")

    # Where leaves hold at least so many rows, points say how many they have.
    counted = [1] if "rows" in head else []
    by_question = [answers(question, frame) for question in questions]
    found: dict[str, Any] = {}
    rows_of: dict[str, list[int]] = {}
    for row, cost in enumerate(costs):
        bits = "".join(str(column[row]) for column in by_question)
        own = counted + cost
        found[bits] = tuple(map(sum, zip(found.get(bits, [0] * len(own)), own)))
        rows_of.setdefault(bits, []).append(row)
    # Of squares, rows and weights are compared here, and sums below.
    n = len(counted) + 1 if squares else None
    if found != {bits: numbers[:n] for bits, numbers in points.items()}:
        different = len(set(found.items()) ^ {(bits, own[:n]) for bits, own in points.items()})
        return wrong(f"{different} points are there in only one of them")
    print(f"THE TABLE: {len(frame)} rows are the {len(points)} points of the instance")
    if counted:
        print(f"Each leaf of a split holds at least {head['rows']} rows")
    if "leaves" in head:
        print(f"No tree has more than {head['leaves']} leaves")

    if squares:
        most, admitted = squares.most_slack(points, head, rows_of), int(head["slack"])
        if most > admitted:
            return wrong(f"costs differ by {float(most):.6g} units, and {admitted} are admitted")
        share = float(2 * admitted / squares.units(head))
        print(f"No tree costs more, or less, than its errors by above {admitted} units")
        print(f"So none is better by more than {share:.1e} than one that costs the least")

    # The tree, row by row.
    with open(proof, "rb") as lines:
        tree = next(line for line in lines if line.startswith(b"tree ")).decode().split()[1:]
    open_, total = [(list(range(len(frame))), 0)], Fraction(0)
    weighed = {(actual, said): Fraction(0) for actual in (0, 1) for said in (0, 1)}
    for node in tree:
        rows, depth = open_.pop()
        if node == "-" and squares:
            (total_weight, *own), errors = sums_of_squares(rows, squares)
            total += errors + squares.penalty * squares.units(head)
            steps = zip(own, about["targets"])
            means = [
                float(Fraction(zero) + s / total_weight * Fraction(2) ** n)
                for s, (zero, n) in steps
            ]
            print("  " * depth + f"{len(rows)} rows, mean {', '.join(map('{:.6g}'.format, means))}")
            continue
        if node == "-":
            sums = [sum(column) for column in zip(*(costs[row] for row in rows))]
            total += min(sums) + int(head["leaf"])
            shown = f"{len(rows)} rows, label {sums.index(min(sums))}, which costs {min(sums)}"
            print("  " * depth + shown)
            for row in rows if "metric" in about else ():
                of = classes[str(frame[target][row])], sums.index(min(sums))
                weighed[of] += Fraction(weights[row])
            continue
        column = by_question[int(node)]
        print("  " * depth + f"{words(questions[int(node)])}: no, then yes")
        open_ += [([row for row in rows if column[row] == side], depth + 1) for side in (1, 0)]
    if squares:
        print(f"The objective of the tree is {float(total / squares.units(head)):.9f}")
        return 0
    objective = (total + int(head["offset"])) / Fraction(head["units"])
    if "metric" in about:
        return of_metric(about, classes[about["positive"]], weighed, total)
    print(f"The tree costs {total}, which is an objective of {float(objective):.9f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
