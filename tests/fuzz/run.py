"""Fuzz every reader for a number of seconds: ``python tests/fuzz/run.py --seconds 60 [json csv
parquet frames]``.

Each case is made by damaging a file of the corpus, or from nothing for ``frames``. A reader may
answer, or raise the one error that users are promised; anything else, a case that takes too long,
and an answer that contradicts itself are kept under ``tests/fuzz/found`` and end the run with exit
code 1. A case that was mended belongs into the corpus, which the tests replay
(``tests/python/test_fuzz_corpus.py``). The readers run in child processes, so that crashes and
endless loops are found, too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import mutate
import readers

HERE = Path(__file__).parent
FOUND = HERE / "found"

#: Seconds of the processor that one case may take. Those of a clock depend on what else the
#: machine does; so many times as many are too long all the same.
PATIENCE = 30.0
BUSY = 20


def work(name: str, seed: int, seconds: float, pipe: object) -> None:
    """In a child: cases one after the other, each announced before it is read."""
    # Panics are found by their exceptions; what Rust prints of them is noise.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    rng = random.Random(seed)
    read: Callable[[bytes], str] = readers.READERS[name]
    corpus = [path.read_bytes() for path in sorted((HERE / "corpus" / name).glob("*"))]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        case = mutate.case(name, corpus, rng)
        pipe.send(("case", case))
        try:
            pipe.send(("done", read(case)))
        except BaseException as error:
            pipe.send(("wrong", f"{type(error).__name__}: {error}"))
    pipe.send(("end", None))


def heard(pipe: object, pid: int) -> bool:
    """Waits for the next message of a child; False if it works on one case for too long."""
    start, spent = time.monotonic(), processor_seconds(pid)
    while not pipe.poll(1.0):
        waited = time.monotonic() - start
        if waited > PATIENCE * BUSY or processor_seconds(pid) - spent > PATIENCE:
            return False
    return True


def processor_seconds(pid: int) -> float:
    """What a process has worked so far; the clock where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children_seconds() -> float:
    """What all children that have ended have worked."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


def fuzz(name: str, seconds: float, seed: int) -> int:
    """Run one reader; the number of different failures."""
    spawn = multiprocessing.get_context("spawn")
    end = time.monotonic() + seconds
    worked = 0.0
    counts: dict[str, int] = {}
    failures: dict[str, bytes] = {}
    while (left := end - time.monotonic()) > 0:
        ours, theirs = spawn.Pipe()
        child = spawn.Process(target=work, args=(name, seed, left, theirs))
        child.start()
        theirs.close()
        seed += 1
        case = b""
        problem = ""
        while True:
            if not heard(ours, child.pid):
                problem = f"took longer than {PATIENCE:.0f} s"
                break
            try:
                kind, value = ours.recv()
            except EOFError:
                child.join()
                problem = f"the process ended with exit code {child.exitcode}"
                break
            if kind == "case":
                case = value
            elif kind == "end":
                break
            elif kind == "wrong":
                failures.setdefault(value[:80], case)
            else:
                counts[value] = counts.get(value, 0) + 1
        if problem:
            failures.setdefault(problem, case)
        before = children_seconds()
        child.kill()
        child.join()
        worked += children_seconds() - before
    total = sum(counts.values())
    kinds = [f"{n:,} {kind}" for kind, n in sorted(counts.items())]
    print(f"{name}: {total:,} cases in {worked:,.0f} s of the processor, {', '.join(kinds)}")
    for number, (problem, case) in enumerate(failures.items()):
        FOUND.mkdir(exist_ok=True)
        path = FOUND / f"{name}-{int(time.time())}-{number}"
        path.write_bytes(case)
        print(f"  {problem!r}: {path}")
    sys.stdout.flush()
    return len(failures)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("readers", nargs="*", default=list(readers.READERS))
    options.add_argument("--seconds", type=float, default=60.0, help="for each reader")
    options.add_argument("--seed", type=int, default=int(time.time()))
    arguments = options.parse_args()
    print(f"seed {arguments.seed}")
    return int(sum(fuzz(name, arguments.seconds, arguments.seed) for name in arguments.readers) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
