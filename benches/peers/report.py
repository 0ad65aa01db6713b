"""The table, the means, and the disagreements."""

import math

from peers.settings import SETTINGS


def key(record):
    return record.get(
        "task", "accuracy"
    ), record["set"], record["max_depth"], record["leaf_penalty"]


def problem(record):
    depth = "" if record["max_depth"] is None else f" d{record['max_depth']}"
    penalty = f" λ={record['leaf_penalty']:g}" if record["leaf_penalty"] else ""
    return f"{record['set']}{depth}{penalty}"


def pairs(records):
    """(peer's record, the record of the solver beside it or None), in the order they were measured;
    the last wins."""
    latest = {}
    for record in records:
        latest[record["setting"], record["peer"], key(record), record["solver"]] = record
    groups = {}
    for (setting, peer, problem_key, solver), record in latest.items():
        groups.setdefault((setting, peer, problem_key), {})[solver] = record
    for (_, peer, _), group in groups.items():
        if peer in group:
            beside = next((record for name, record in group.items() if name != peer), None)
            yield group[peer], beside


def disagreements(records):
    """Every pair of proved objectives that differ, and every proof that another solver's tree
    refutes."""
    best = {}
    for record in records:
        if record["objective"] is not None:
            other = best.get(key(record))
            if other is None or record["objective"] < other["objective"]:
                best[key(record)] = record
    for record in records:
        if record["outcome"] != "optimal":
            continue
        other = best.get(key(record))
        # Objectives are multiples of 1/rows plus multiples of the penalty: anything above rounding
        # is real.
        if other is not None and record[
            "objective"
        ] is not None and record["objective"] > other["objective"] + 1e-9:
            yield (
                f"!!! DISAGREEMENT on {problem(record)}: {record['solver']} claims that "
                f"{record['objective']:.9f} is optimal, but {other['solver']} has a tree of "
                f"{other['objective']:.9f}"
            )


def on_clock(record, clock):
    """The record with `seconds` read off the clock asked for; a fit that is not solved counts as
    its limit on both."""
    if clock == "wall" or record["outcome"] != "optimal":
        return record
    return {**record, "seconds": record["cpu_seconds"]}


def disturbed(records):
    """Fits that waited for a processor: something else ran, and their wall clock says more than
    they took."""
    for record in records:
        if record["outcome"] != "optimal" or record["seconds"] < 0.05:
            continue
        share = record["cpu_seconds"] / record["seconds"]
        if share < 0.9:
            yield f"{problem(record)} {record['solver']} ({share:.0%} on a processor)"


def report(records, threshold, clock="wall"):
    lines = []
    waited = list(disturbed(records))
    records = [on_clock(record, clock) for record in records]
    paired = list(pairs(records))
    for setting, peer in dict.fromkeys((a["setting"], a["peer"]) for a, _ in paired):
        chosen = [(a, b) for a, b in paired if (a["setting"], a["peer"]) == (setting, peer)]
        beside = next((b["solver"] for _, b in chosen if b), None)
        lines += ["", f"## {setting}: {peer}" + (f" | {beside}" if beside else ""), ""]
        lines += table(chosen)
        # Where threads are compared, cases that are soon done say nothing.
        lines += [""] + summary(chosen, max(threshold, SETTINGS[setting].skip_below))
    complaints = list(dict.fromkeys(disagreements(records))) or ["every proved objective agrees"]
    if waited and clock == "wall":
        lines += ["", "disturbed, so measure again or use --clock cpu: " + ", ".join(waited)]
    return "\n".join(lines + [""] + complaints)


COLUMNS = (
    "problem rows features peer_s own_s ratio peer_objective own_objective peer_MB own_MB nodes "
    "kernel_calls bytes/node"
)


def table(chosen):
    rows = [COLUMNS.split()]
    for a, b in chosen:
        detail = b["detail"] if b else {}
        rows.append(
            [
                problem(a),
                str(a["rows"]),
                str(a["features"]),
                seconds(a),
                seconds(b),
                f"{a['seconds'] / b['seconds']:.1f}" if b and not failed(a, b) else "-",
                value(a),
                value(b),
                megabytes(a),
                megabytes(b),
                str(detail.get("nodes", "-")),
                str(detail.get("kernel_calls", "-")),
                f"{detail['peak_bytes'] / detail['nodes']:.0f}" if detail.get("nodes") else "-",
            ]
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(widths[i]) for i, cell in enumerate(row)).rstrip() for row in rows]


def seconds(record):
    if record is None:
        return "-"
    if record["outcome"] != "optimal":
        return f">{record['limit']:g} {record['outcome']}"
    return f"{record['seconds']:.4f}"


def value(record):
    if record is None or record["objective"] is None:
        return "-"
    return f"{record['objective']:.6f}" + ("" if record["outcome"] == "optimal" else "?")


def failed(*records):
    """A fit that crashed is no measurement: neither a peer's nor our own may move a mean."""
    return any(record["outcome"] == "error" for record in records)


def search_bytes(record):
    """What the search took: the peak less what was held before it, with the libraries and the data
    loaded."""
    if record is None or not record["peak_bytes"] or not record["loaded_bytes"]:
        return None
    return max(record["peak_bytes"] - record["loaded_bytes"], 0)


def megabytes(record):
    size = search_bytes(record)
    return "-" if size is None else f"{size / 1e6:.1f}"


def summary(chosen, threshold):
    solved = sum(a["outcome"] == "optimal" for a, _ in chosen)
    lines = [f"cases: {len(chosen)}; solved by the peer: {solved}"]
    counted = [(a, b) for a, b in chosen if b and a["seconds"] >= threshold and not failed(a, b)]
    ratios = [(a["seconds"] / b["seconds"], problem(a)) for a, b in counted]
    if ratios:
        worst, where = min(ratios)
        lines.append(
            f"peer s / own s over the {len(ratios)} cases where the peer needs >= {threshold:g} s: "
            f"geometric mean {mean([r for r, _ in ratios]):.2f}, worst {worst:.2f} ({where})"
        )
    # Below a megabyte the allocator's own steps are all there is to see.
    sizes = [(search_bytes(a), search_bytes(b)) for a, b in counted]
    sizes = [max(a, 1e6) / max(b, 1e6) for a, b in sizes if a is not None and b is not None]
    if sizes:
        lines.append(
            f"peer bytes / own bytes on the same: geometric mean {mean(sizes):.2f}, worst "
            f"{min(sizes):.2f}"
        )
    for label, side in (("peer", 0), ("own", 1)):
        unsolved = [
            pair[side] for pair in chosen if pair[side] and pair[side]["outcome"] != "optimal"
        ]
        if unsolved:
            named = [f"{problem(r)} ({r['outcome']})" for r in unsolved]
            lines.append(f"not solved, {label}: " + ", ".join(named))
    broken = [
        f"{problem(r)} {r['solver']}"
        for pair in chosen
        for r in pair
        if r
        and r["outcome"] == "error"
    ]
    if broken:
        lines.append("!!! failed, and not in the means: " + ", ".join(broken))
    lost = [
        problem(a)
        for a, b in chosen
        if b
        and a["outcome"] == "optimal"
        and b["outcome"] != "optimal"
    ]
    if lost:
        lines.append("!!! solved by the peer only: " + ", ".join(lost))
    return lines


def mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))
