"""Mutation run: small mistakes in the Rust code, and which of them no test notices.

    python tests/mutants.py [--each N] [--seed S] [--keep DIR] rust/bounds/*.rs -- [filter ...]
    CERTREE_CASES=60 python tests/mutants.py ...    # fewer random cases in each test

Every function of the named files is copied once for each mistake in it (a comparison, an operator,
``min`` and ``max``, a 0 or 1 changed, a statement dropped), and an environment variable says which
copy runs. So one build serves all mutants. The project is copied to a scratch folder; nothing here
is changed. For each mutant the tests that the filters name run until the first one fails; what none
of them notices is printed, and the counts of each folder at the end or at Ctrl-C. ``--each``
samples so many mutants of each file.

This is for a nightly run by hand: it takes a build and some seconds for each mutant. A survivor is
not always a missing test: a bound that is looser, or a limit that is met later, may change only how
long a search takes.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: What a token becomes. Formatted code has spaces around operators, and none in generics.
SWAPS = [
    (" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "),
    (" == ", " != "), (" != ", " == "),
    (" + ", " - "), (" - ", " + "), (" * ", " + "), (" && ", " || "), (" || ", " && "),
    (".min(", ".max("), (".max(", ".min("), ("(0)", "(1)"),
    (" 0 ", " 1 "), (" 1 ", " 2 "), (" 2 ", " 3 "),
    (" += ", " -= "), (" -= ", " += "),
    ("saturating_sub", "saturating_add"), ("checked_add", "checked_sub"),
]  # fmt: skip

#: The compiler refuses some mistakes that it sees, such as sums that overflow in any case.
LENIENT = {**os.environ, "RUSTFLAGS": "--cap-lints allow"}

#: The numbers of a file's mutants begin at a multiple of this.
PER_FILE = 10_000

FUNCTION = re.compile(r"^( *)(pub(\([a-z: ]+\))? )?fn (\w+)")
SELECTOR = """
/// Which mutant runs; 0 is none.
pub fn mutant() -> u32 {
    static MUTANT: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *MUTANT.get_or_init(|| std::env::var("MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(0))
}
"""


def mutants_of(line: str) -> list[str]:
    """The line with one mistake each."""
    code = line.split("//")[0]
    if not code.strip() or re.search(
        r"assert|#\[|format!|Error::|\bimpl\b|\bdyn\b|^\s*(use|const) |\|\|$", code
    ):
        return []
    found = []
    for token, other in SWAPS:
        # A closure without arguments is no disjunction.
        for at in [m.start() for m in re.finditer(re.escape(token), code)]:
            found.append(line[:at] + other + line[at + len(token) :])
    if re.fullmatch(
        r" *[\w.]+(\[.*\])?( [-+*|&^]?= .*|\(.*\));\n", line
    ) and not code.strip().startswith("return"):
        found.append("\n")
    return found


def functions(lines: list[str]):
    """The first and last line of each function's body, with its name."""
    at = 0
    while at < len(lines) and not lines[at].startswith("#[cfg(test)]"):
        match = FUNCTION.match(lines[at])
        start = at
        while match and not lines[start].rstrip().endswith(("{", "}", ";")):
            start += 1
        signature = "".join(lines[at : start + 1])
        if (
            match
            and lines[start].rstrip().endswith("{")
            and "impl" not in signature.split("->")[-1]
        ):
            end = next(i for i in range(start, len(lines)) if lines[i] == match[1] + "}\n")
            yield match[4], start + 1, end
            at = end
        at += 1


def mutate(
    path: Path, shown: str, first: int, each: int, chosen: random.Random, broken: set[int]
) -> list[tuple[int, str]]:
    """Write all mutants of a file into it, but for those that are ``broken``; returns their numbers
    and what they are. ``shown``: what the file is called."""
    lines = path.read_text().splitlines(keepends=True)
    bodies = list(functions(lines))
    sites = [(name, start, end, at, new) for name, start, end in bodies
             for at in range(start, end) for new in mutants_of(lines[at])]  # fmt: skip
    sites = sorted(chosen.sample(sites, min(each, len(sites))), key=lambda site: site[3])
    out, last, number, told = [], 0, first - 1, []
    for name, start, end in bodies:
        own = [site for site in sites if site[1] == start]
        if not own:
            continue
        out += [*lines[last:start], "    match crate::mutant() {\n"]
        for _, _, _, at, new in own:
            number += 1
            if number in broken:
                continue
            told.append(
                (
                    number,
                    (
                        f"{shown}:{at + 1} {name}: {lines[at].strip()}  → "
                        f" {new.strip() or '(dropped)'}"
                    ),
                )
            )
            out += [f"{number} => {{\n", *lines[start:at], new, *lines[at + 1 : end], "}\n"]
        out += ["_ => {\n", *lines[start:end], "}\n    }\n"]
        last = end
    path.write_text("".join([*out, *lines[last:]]))
    return told


def prepare(files: list[str], each: int, seed: int, scratch: Path) -> list[tuple[int, str]]:
    """All mutants that compile, in the scratch folder."""
    broken: set[int] = set()
    while True:
        mutants: list[tuple[int, str]] = []
        for at, name in enumerate(files):
            shutil.copy(ROOT / name, scratch / name)
            chosen = random.Random(f"{seed} {name}")
            mutants += mutate(scratch / name, name, 1 + at * PER_FILE, each, chosen, broken)
        check = ["cargo", "check", "--lib", "--message-format", "short"]
        run = subprocess.run(check, cwd=scratch, text=True, capture_output=True, env=LENIENT)
        if run.returncode == 0:
            return mutants
        known = len(broken)
        for name, line in re.findall(r"^(\S+\.rs):(\d+):\d+: error", run.stderr, re.MULTILINE):
            above = (scratch / name).read_text().splitlines()[: int(line)]
            arms = [int(arm[1]) for arm in map(re.compile(r"(\d+) => \{$").match, above) if arm]
            broken |= set(arms[-1:])
        if len(broken) == known:
            sys.exit(run.stderr)


def killed(
    binaries: list[str], mutant: int, filters: list[str], cwd: Path, seconds: float
) -> str | None:
    """The first test that fails, if one does."""
    for binary in binaries:
        env = {**os.environ, "MUTANT": str(mutant), "RUST_BACKTRACE": "0"}
        command = ["timeout", str(seconds), binary, *filters]
        run = subprocess.Popen(
            command, cwd=cwd, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        for line in run.stdout:
            if line.startswith("test ") and line.rstrip().endswith("FAILED"):
                run.kill()
                run.wait()
                return line.split()[1]
        if run.wait() != 0:
            return "the time limit" if run.returncode == 124 else "a crash"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--each", type=int, default=10**9, help="mutants of each file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600, help="for the tests of one mutant")
    parser.add_argument(
        "--keep", type=Path, help="a scratch folder that stays, so that the next build is quicker"
    )
    own, _, filters = " ".join(sys.argv[1:]).partition(" -- ")
    asked = parser.parse_args(own.split())
    scratch = asked.keep or Path(tempfile.mkdtemp(prefix="mutants-"))
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        to = scratch / name
        to.parent.mkdir(parents=True, exist_ok=True)
        if not to.exists() or to.read_bytes() != (ROOT / name).read_bytes():
            shutil.copy2(ROOT / name, to)
    lib = scratch / "rust" / "lib.rs"
    lib.write_text(lib.read_text() + SELECTOR)
    mutants = prepare(asked.files, asked.each, asked.seed, scratch)
    print(f"{len(mutants)} mutants of {len(asked.files)} files", flush=True)
    build = ["cargo", "test", "--no-run", "--lib", "--test", "all", "--message-format", "short"]
    built = subprocess.run(
        build, cwd=scratch, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=LENIENT
    )
    if built.returncode:
        sys.exit(built.stdout)
    binaries = [str(scratch / path) for path in re.findall(r"Executable .*\((.*)\)", built.stdout)]
    if test := killed(binaries, 0, filters.split(), scratch, asked.seconds):
        sys.exit(f"without a mutant, {test} fails")
    counts: Counter[tuple[str, bool]] = Counter()
    try:
        # One of each file after the other, so that a run that is ended early has seen all files.
        for number, what in sorted(mutants, key=lambda mutant: mutant[0] % PER_FILE):
            test = killed(binaries, number, filters.split(), scratch, asked.seconds)
            print(f"{'SURVIVED' if test is None else 'killed by ' + test}: {what}", flush=True)
            counts[str(Path(what.split(":")[0]).parent), test is not None] += 1
    except KeyboardInterrupt:
        print("ended early")
    for folder in sorted({folder for folder, _ in counts}):
        print(f"{folder}: {counts[folder, True]} killed, {counts[folder, False]} survived")
    if not asked.keep:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
