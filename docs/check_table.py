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
    if "class_costs" not in about:
        return wrong("this script knows costs of classes alone")
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

    # Where leaves hold at least so many rows, points say how many they have.
    counted = [1] if "rows" in head else []
    by_question = [answers(question, frame) for question in questions]
    found: dict[str, Any] = {}
    for row, cost in enumerate(costs):
        bits = "".join(str(column[row]) for column in by_question)
        own = counted + cost
        found[bits] = tuple(map(sum, zip(found.get(bits, [0] * len(own)), own)))
    if found != dict(points):
        different = len(set(found.items()) ^ set(points.items()))
        return wrong(f"{different} points are there in only one of them")
    print(f"THE TABLE: {len(frame)} rows are the {len(points)} points of the instance")
    if counted:
        print(f"Each leaf of a split holds at least {head['rows']} rows")
    if "leaves" in head:
        print(f"No tree has more than {head['leaves']} leaves")

    # The tree, row by row.
    with open(proof, "rb") as lines:
        tree = next(line for line in lines if line.startswith(b"tree ")).decode().split()[1:]
    open_, total = [(list(range(len(frame))), 0)], Fraction(0)
    weighed = {(actual, said): Fraction(0) for actual in (0, 1) for said in (0, 1)}
    for node in tree:
        rows, depth = open_.pop()
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
    objective = (total + int(head["offset"])) / Fraction(head["units"])
    if "metric" in about:
        return of_metric(about, classes[about["positive"]], weighed, total)
    print(f"The tree costs {total}, which is an objective of {float(objective):.9f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
