"""certree and the published solvers, side by side on the same files.

    python benches/peers.py --data DIR --setting accuracy-depth4 --setting sparse \\
        --out results.jsonl

`DIR` holds Parquet files: a column `target`, then Boolean features, or numbers only, which are
searched at all their cuts. Where the target is a float it is regression, and columns that are not
Boolean are cut for both. For policies: the treatment `k`, its outcome `y` and propensity `mu`,
predicted outcomes `yhat_<k>`, `split`, and Boolean features. For survival: `time`, `event`, and
Boolean features. For fairness: a `manifest.json` in `DIR` or above it that names each set's
`sensitive` column. For test costs: a `<set>.costs.json` beside each file. Settings, and which peers
each is for, stand in `peers/settings.py`; the peers and their options in `peers/solvers.py`, one
adapter for each in `peers/adapters/`. This interpreter needs numpy and polars; certree is taken
from it unless `--certree-python` names another.

- Each peer gets a virtual environment of its own, made when it is first needed under `--envs`, from
  pinned wheels of the package registry. It needs a Python that these wheels exist for: on the path,
  of pyenv's, or given by `--python`.
- One process runs at a time. Each fit is a child process; its peer and certree run right after one
  another on each problem. Only the call of `fit` is timed, after a warm-up fit on a table of eight
  rows.
- A fit that is not proved optimal within `--limit` seconds, or takes more than `--memory` bytes,
  counts as the limit.
- On a machine that others use too, `--clock cpu` compares processor time. The report says which
  fits had to wait. It means nothing for more than one thread.
- Memory is the peak of the child less what it held right before `fit`.
- Objectives are recomputed here from the predictions on the training rows and the number of leaves.

Every fit is a line of `--out` as soon as it is done, and `--resume` skips those that stand there
already. `--report` only prints what `--out` holds. `--without-certree` measures the peers alone.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from peers import environments, report
from peers.run import run
from peers.settings import SETTINGS, cases_of
from peers.solvers import SOLVERS
from peers.tables import load_tables


@dataclass(frozen=True)
class Limits:
    seconds: float
    memory: float


def main():
    arguments = parse()
    records = read(arguments.out)
    if not arguments.report:
        if records and not arguments.resume:
            raise SystemExit(
                f"{arguments.out} exists: give --resume to go on with it, or another name"
            )
        with tempfile.TemporaryDirectory() as folder:
            measure(arguments, load_tables(arguments.data, arguments.sets, folder), records)
    print(report.report(records, arguments.threshold, arguments.clock))


def measure(arguments, tables, records):
    limits = Limits(arguments.limit, arguments.memory)
    by_name = {table.name: table for table in tables}
    for setting in (SETTINGS[name] for name in arguments.setting):
        for case in cases_of(setting, tables):
            for peer in arguments.peers or setting.peers:
                for solver in side_by_side(setting, peer, arguments):
                    record = once(solver, peer, case, by_name[case.set], limits, arguments, records)
                    if record["seconds"] < setting.skip_below:
                        break


def side_by_side(setting, peer, arguments):
    yield SOLVERS[peer]
    if not (arguments.without_certree or setting.beside == peer):
        yield SOLVERS[setting.beside]


def once(solver, peer, case, table, limits, arguments, records):
    done = find(records, solver, peer, case, limits)
    if done is not None:
        return done
    python = environments.python_for(
        solver, arguments.envs, arguments.python, arguments.certree_python
    )
    record = {"peer": peer, **run(solver, python, case, table, limits)}
    for _ in range(arguments.repeat - 1):
        # The least of a few is the figure with the least of the machine's other work in it.
        if record["outcome"] == "optimal" and record["seconds"] < 1.0:
            again = {"peer": peer, **run(solver, python, case, table, limits)}
            record = min(record, again, key=lambda one: one["seconds"])
    records.append(record)
    with open(arguments.out, "a") as out:
        out.write(json.dumps(record) + "\n")
    say(record, case, records)
    return record


def find(records, solver, peer, case, limits):
    """The record of this run, if it is there and was not cut short by a smaller limit."""
    for record in reversed(records):
        same = (
            record["setting"], record["peer"], record["solver"]
        ) == (case.setting, peer, solver.name)
        if same and report.key(record) == (case.task, case.set, case.max_depth, case.leaf_penalty):
            if record["outcome"] == "optimal" or record["limit"] >= limits.seconds:
                return record
    return None


def say(record, case, records):
    line = f"{case}  {record['solver']}: {report.seconds(record)} s  "
    line += f"objective {report.value(record)}"
    print(line, file=sys.stderr, flush=True)
    if record["outcome"] == "error":
        print(record["message"], file=sys.stderr, flush=True)
    same = [other for other in records if report.key(other) == report.key(record)]
    for complaint in dict.fromkeys(report.disagreements(same)):
        print(complaint, file=sys.stderr, flush=True)


def read(path):
    if not Path(path).exists():
        return []
    return [json.loads(line) for line in Path(path).read_text().splitlines() if line]


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = lambda text: [name for name in text.split(",") if name]  # noqa: E731
    parser.add_argument("--data", help="folder of Parquet files")
    parser.add_argument(
        "--setting", action="append", choices=SETTINGS, help="may be given several times"
    )
    parser.add_argument("--peers", type=names, help="comma-separated, instead of the setting's own")
    parser.add_argument("--sets", type=names, help="comma-separated names of files, instead of all")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one fit")
    parser.add_argument("--memory", type=float, default=16e9, help="bytes for one process")
    parser.add_argument("--out", default="peers.jsonl", help="where the lines go")
    parser.add_argument("--resume", action="store_true", help="go on with --out")
    parser.add_argument("--report", action="store_true", help="print what --out holds, run nothing")
    parser.add_argument(
        "--repeat",
        type=int,
        default=1,
        help="run fits of less than a second so often, take the least",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        default=0.05,
        help="seconds a peer must need to count in the means",
    )
    parser.add_argument(
        "--clock", choices=("wall", "cpu"), default="wall", help="which time the table compares"
    )
    parser.add_argument(
        "--envs", default=environments.default_folder(), help="folder for the environments"
    )
    parser.add_argument(
        "--python", action="append", default=[], help="an interpreter that peers may use"
    )
    parser.add_argument(
        "--certree-python", help="the interpreter that has certree; default: this one"
    )
    parser.add_argument("--without-certree", action="store_true", help="measure the peers alone")
    arguments = parser.parse_args()
    if not arguments.report and not (arguments.data and arguments.setting):
        parser.error("give --data and --setting, or --report")
    unknown = set(arguments.peers or ()) - set(SOLVERS)
    if unknown:
        parser.error(f"no such peer: {', '.join(sorted(unknown))}; there are {', '.join(SOLVERS)}")
    return arguments


if __name__ == "__main__":
    main()
