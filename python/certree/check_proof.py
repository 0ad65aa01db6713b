"""Checks proofs that no decision tree is better than a given one: ``python -m certree.check_proof
INSTANCE PROOF``. It needs this file and numpy, and no other part of certree. ``docs/proof.md`` says
what the files hold, and why each step is sound."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

#: No sum of costs is larger, so that none overflows.
MOST = 1 << 57
#: No sum over points of another number of theirs is larger, nor of a cost for each label.
MOST_SUM = 1 << 62
#: Targets of squared errors, and what points cost there at most in all.
MOST_TARGETS, MOST_WORST = 64, 1 << 59
#: Sums of gains are at most 2^58, and floats have 53 bits: those of a pair of questions are off by
#: less than half of this, with what is rounded up in each gain.
ROUGH = 2048.0
#: More than any points cost.
MUCH = 1 << 60
#: Questions that are paired with all others at once.
BLOCK = 128
#: A depth or a number of leaves that is not limited.
UNLIMITED = (1 << 32) - 1
#: A limit on leaves is no larger, because each split has a number for each way to share them.
MOST_LEAVES = 64


class Verdict(NamedTuple):
    #: "VERIFIED", "VERIFIED UP TO", or "NOT VERIFIED".
    kind: str
    why: str
    bound: int = 0
    cost: int = 0


class Wrong(Exception):
    pass


def need(is_true: Any, otherwise: str) -> None:
    if not is_true:
        raise Wrong(otherwise)


def whole(text: str) -> int:
    """A whole number in decimal digits alone."""
    need(re.fullmatch(r"0|-?[1-9][0-9]{0,18}", text), f"{text!r} is no number that fits")
    need(-(2**63) <= int(text) < 2**63, f"{text!r} is no number that fits")
    return int(text)


def positive(text: str, most: int) -> int:
    need(1 <= whole(text) <= most, f"{text} is not from 1 to {most}")
    return int(text)


class Instance:
    def __init__(self, data: bytes) -> None:
        text = data.decode()
        need(text.endswith("\nend\n"), "the instance has no end")
        lines = text[:-5].split("\n")
        task = "squares" if len(lines) > 6 and lines[6].startswith("squares ") else "labels"
        names = ["depth", "leaf", "offset", "units", "slack", task, "questions", "points"]
        need(lines[0] == "certree instance 1", "this is no instance of version 1")
        need(len(lines) > len(names), "the instance has no points")
        head = {}
        for name, line in zip(names, lines[1:]):
            need(line.startswith(f"{name} "), f"the instance has no {name}")
            head[name] = line[len(name) + 1 :]
        self.depth = UNLIMITED if head["depth"] == "none" else whole(head["depth"])
        self.leaf, self.offset = whole(head["leaf"]), whole(head["offset"])
        need(re.fullmatch(r"[0-9.eE+-]+", head["units"]), "units are a number")
        self.units, self.slack = float(head["units"]), whole(head["slack"])
        given, questions, points = head[task].split(" "), *(whole(head[name]) for name in names[6:])
        #: Of squares, by target: by how many bits they are shifted to be costs.
        self.shifts = [whole(shift) for shift in given] if task == "squares" else []
        ok = 0 <= self.leaf <= MOST and self.slack >= 0 and 0 < self.units < np.inf
        ok = ok and len(self.shifts) <= MOST_TARGETS and all(0 <= s < 128 for s in self.shifts)
        width = len(self.shifts) + 2 if self.shifts else whole(head[task])
        ok = ok and width > 0 and 0 <= self.depth <= UNLIMITED
        need(ok, "a number of the instance is out of range")
        limits: dict[str, int] = {}
        asked, answers, numbers, rows = 0, [], list[list[int]](), []
        for line in lines[len(names) + 1 :]:
            kind, _, rest = line.partition(" ")
            asked += kind == "question"
            is_known = kind in ("question", "about", "point", "rows", "leaves")
            need(is_known, "a line of the instance is of no kind")
            if kind in ("rows", "leaves"):
                is_first = not numbers and kind not in limits
                need(is_first, "a limit comes once, and before all points")
                limits[kind] = positive(rest, MOST if kind == "rows" else MOST_LEAVES)
            if kind == "point":
                bits, *own = rest.split(" ")
                rows.append(positive(own.pop(0) if own else "", MOST) if "rows" in limits else 1)
                fits = len(bits) == questions and not bits.strip("01") and len(own) == width
                need(fits, "a point does not answer each question, or lacks a number")
                answers.append(np.frombuffer(bits.encode(), np.uint8) == ord("1"))
                numbers.append([whole(number) for number in own])
        is_whole = asked == questions and len(numbers) == points > 0
        need(is_whole, "there are other questions or points")
        if self.shifts:
            *sums, squares = zip(*numbers)
            is_small = all(sum(map(abs, of)) <= MOST_SUM for of in sums) and sum(squares) <= MOST
            need(min(sums[0]) > 0, "a weight is not above 0")
            need(min(map(self.loss, numbers)) >= 0, "a point costs less than nothing")
        else:
            need(min(map(min, numbers)) >= 0, "a cost is negative")
            is_small = sum(map(max, numbers)) <= min(MOST, MOST_SUM // width)
        need(is_small, "the costs of the instance are too large")
        self.answers = np.array(answers, bool).reshape(points, questions)
        self.numbers = np.array(numbers, np.int64)
        #: Rows that each leaf of a split holds at least, or 0 if the instance says nothing of rows.
        self.min_rows, self.leaves = limits.get("rows", 0), limits.get("leaves", UNLIMITED)
        need(sum(rows) <= MOST, "the instance has too many rows")
        self.rows = np.array(rows, np.int64)

    def gain(self, target: int, total: int, weight: int) -> int:
        """S² / W / 2^shift, rounded up."""
        return -(-total * total // (weight << self.shifts[target])) if weight else 0

    def loss(self, sums: Sequence[int]) -> int:
        """The cost of a leaf without its penalty, from the sums of its points' numbers: that of the
        cheapest label, or the squares less what a mean gains."""
        if not self.shifts:
            return min(sums)
        gains = [self.gain(at, total, sums[0]) for at, total in enumerate(sums[1:-1])]
        return sums[-1] - sum(gains)

    def cost_of_tree(self, words: str) -> int:
        """Preorder, a question or ``-`` for a leaf; answer 0 goes to the first child."""
        open_, cost = [(np.arange(len(self.numbers)), 0)], 0
        for word in words.split(" "):
            need(open_, "the tree of the proof has too many nodes")
            points, depth = open_.pop()
            if word == "-":
                cost += self.loss(self.numbers[points].sum(0).tolist()) + self.leaf
                continue
            question = whole(word)
            need(0 <= question < self.answers.shape[1], "the tree asks what is not there")
            right = self.answers[points, question]
            rows = min(self.rows[points[right]].sum(), self.rows[points[~right]].sum())
            fits = depth < self.depth and rows >= max(self.min_rows, 1)
            need(fits, "the tree of the proof is too deep, or has too small a leaf")
            open_ += [(points[right], depth + 1), (points[~right], depth + 1)]
        need(not open_, "the tree of the proof is not whole")
        need(words.count("-") <= self.leaves, "the tree of the proof has too many leaves")
        return cost


class Budget(NamedTuple):
    """How deep trees may be, and of how many leaves: neither is more than the other allows."""

    depth: int
    leaves: int

    def halves(self) -> list[tuple["Budget", "Budget"]]:
        """Those of both sides of a split, for each way to share the leaves."""
        depth = self.depth if self.depth == UNLIMITED else self.depth - 1
        if self.leaves == UNLIMITED:
            return [(Budget(depth, UNLIMITED),) * 2]
        most = min(self.leaves - 1, 1 << min(depth, 31))
        shares = range(self.leaves - most, most + 1)
        return [(within(depth, left), within(depth, self.leaves - left)) for left in shares]


def within(depth: int, leaves: int) -> Budget:
    if leaves == UNLIMITED:
        return Budget(depth, leaves)
    depth = min(depth, leaves - 1)
    return Budget(depth, min(leaves, 1 << min(depth, 31)))


@dataclass
class Open:
    """A lemma that is not proved yet: each tree of these points costs at least ``target``."""

    points: Any
    asked: Any
    budget: Budget
    key: Any
    #: What one leaf costs.
    one: int
    target: int
    #: The ways to share the leaves.
    halves: list[tuple[Budget, Budget]]
    #: By split (question, then way) and side: what every tree of these points costs at least.
    low: Any
    split: int = 0
    #: The side of the split that was begun last, and what sides are to be proved to cost.
    begun: int = 0
    todo: list[tuple[int, int]] = field(default_factory=list)

    def half(self, side: int) -> Budget:
        return self.halves[self.split % len(self.halves)][side]


class Checker:
    def __init__(self, instance: Instance, shares: bytes, most_lemmas: int) -> None:
        self.instance, self.leaf, self.answers = instance, instance.leaf, instance.answers
        self.rows, self.min_rows = instance.rows, instance.min_rows
        least = np.array([instance.loss(own) for own in instance.numbers.tolist()], np.int64)
        self.unavoidable, self.numbers = int(least.sum()), instance.numbers.copy()
        if instance.shifts:
            self.numbers[:, -1] -= least
            self.worst = self.worst_of_squares()
        else:
            self.numbers -= least[:, None]
            self.worst = self.numbers.max(1)
        # Sums of floats are exact below 2^53, and faster.
        is_exact = self.worst.sum() + self.rows.sum() < 2**50
        self.number = np.float64 if is_exact else np.int64
        # Drawn when the proof is there already.
        self.keys = np.frombuffer(os.urandom(16 * len(least)), np.uint64).reshape(-1, 2)
        self.shares, self.at, self.most_lemmas, self.lemmas = shares, 0, most_lemmas, 0
        self.proved: dict[tuple[Any, Budget], int] = {}
        #: What the points of the last lemma that was proved cost at least.
        self.worth = 0

    def worst_of_squares(self) -> Any:
        """By point, the most that it adds to a leaf whose means are no others than points may have:
        a mean c of a target costs it c²w - 2cs more than its squares, most at an end."""
        points = self.numbers.tolist()
        everything = self.instance.loss(self.numbers.sum(0).tolist())
        worst = [own[-1] for own in points]
        for at, shift in enumerate(self.instance.shifts, 1):
            low = min(own[at] // own[0] for own in points)
            high = max(-(-own[at] // own[0]) for own in points)
            is_small = max(abs(low), abs(high)) * sum(own[0] for own in points) <= MOST_SUM
            need(is_small, "the means of the instance are too large")
            for place, own in enumerate(points):
                ends = [(2 * end * own[at] - end * end * own[0]) >> shift for end in (low, high)]
                worst[place] -= min(ends)
        worst = [min(most, everything) for most in worst]
        need(sum(worst) <= MOST_WORST, "what the points cost at most is too large")
        return np.array(worst, np.int64)

    def run(self, budget: Budget, target: int) -> None:
        asked = np.arange(self.answers.shape[1])
        # Points without costs are left out, unless they count as rows, or in means.
        counts = self.min_rows > 0 or bool(self.instance.shifts)
        points = np.flatnonzero((self.worst > 0) | counts)
        top = self.begin(points, asked, budget, target)
        stack = [top] if top else []
        need(top or self.worth >= target, "a small tree costs less")
        while stack:
            top = stack[-1]
            if top.todo:
                top.begun, target = top.todo.pop()
                if top.low[top.split, top.begun] < target:
                    points = self.side(top, top.begun)
                    child = self.begin(points, top.asked, top.half(top.begun), target)
                    if child:
                        stack.append(child)
                    else:
                        self.lift(top, top.begun, self.worth)
            elif self.choose(top):
                self.prove(top.key, top.budget, min([top.one, *top.low.sum(1).tolist()]))
                stack.pop()
                if stack:
                    self.lift(stack[-1], stack[-1].begun, self.worth)

    def side(self, top: Open, side: int) -> Any:
        question = top.asked[top.split // len(top.halves)]
        return top.points[self.answers[top.points, question] == bool(side)]

    def key(self, points: Any) -> Any:
        return np.bitwise_xor.reduce(self.keys[points], 0, initial=np.uint64(0)).tobytes()

    def prove(self, key: Any, budget: Budget, cost: int) -> None:
        self.worth = max(cost, self.proved.get((key, budget), cost))
        self.proved[key, budget] = self.worth

    def distinct(self, points: Any, asked: Any) -> Any:
        """Questions both of whose sides have enough rows, and only the first of those that part the
        points alike."""
        sides = self.answers[np.ix_(points, asked)]
        if self.min_rows:
            ones, rows = self.rows[points] @ sides, self.rows[points].sum()
            kept = (ones >= self.min_rows) & (rows - ones >= self.min_rows)
            sides, asked = sides[:, kept], asked[kept]
        sides = np.packbits(sides ^ sides[:1], 0)
        seen: dict[bytes, int] = {}
        for place, column in enumerate(np.ascontiguousarray(sides.T)):
            if column.any():
                seen.setdefault(column.tobytes(), place)
        return asked[sorted(seen.values())]

    def look(self, points: Any, asked: Any, leaf: int, pairs: bool) -> tuple[Any, Any, Any]:
        """What sides of questions cost as leaves and with one split, and whether no tree of three
        leaves, each with a penalty of ``leaf``, loses less than that penalty."""
        if self.instance.shifts:
            return self.look_at_squares(points, asked, pairs)
        ones = self.answers[np.ix_(points, asked)].astype(self.number)
        labels = self.numbers.shape[1]
        rows = self.rows[points, None] if self.min_rows else np.empty((len(points), 0))
        costs = np.hstack([self.numbers[points], rows]).astype(self.number)
        # By label, and by question: what all points cost, and those of answer 1; then the rows.
        every, one = costs.sum(0)[:, None], costs.T @ ones
        sides = np.stack([every - one, one])[:, :labels]
        leaves = sides.min(1).T
        stumps, fails = leaves.copy(), np.zeros(leaves.shape, bool)
        for start in range(0, len(asked) if pairs else 0, BLOCK):
            own = slice(start, start + BLOCK)
            both = np.stack([(ones[:, own] * cost[:, None]).T @ ones for cost in costs.T])
            # By the side of the second question, label, and both questions.
            second = np.stack([one[:, own, None] - both, both])
            first = np.stack([every[..., None] - one[:, None], one[:, None]]) - second
            for side, cells in enumerate([first, second]):
                rows, cells = cells[:, labels:], cells[:, :labels]
                split = cells.min(1).sum(0)
                split[(rows < self.min_rows).any((0, 1))] = MUCH
                stumps[own, side] = np.minimum(leaves[own, side], split.min(1))
                if labels == 2 and leaf > 0:
                    halves = np.where(cells[:, ::-1] < leaf, cells, 0).max((0, 3))
                    fails[own, side] = (sides[side][:, own] >= 2 * halves + leaf).all(0)
        return leaves.astype(np.int64), stumps.astype(np.int64), fails

    def look_at_squares(self, points: Any, asked: Any, pairs: bool) -> tuple[Any, Any, Any]:
        """As above. Floats say which pairs of questions may be the best, and whole numbers what
        these cost."""
        ones, numbers = self.answers[np.ix_(points, asked)], self.numbers[points]
        every, one = numbers.sum(0), ones.T.astype(np.int64) @ numbers
        sides = np.stack([every - one, one], 1)
        leaves = np.array([[self.instance.loss(own) for own in both] for both in sides.tolist()])
        leaves = leaves.reshape(-1, 2).astype(np.int64)
        stumps, shifts = leaves.copy(), self.instance.shifts
        # Weights, sums by target; then the rows.
        counted = [*numbers.T[:-1], *([self.rows[points]] if self.min_rows else [])]
        chains = list(in_chains(ones)) if pairs else []
        for start in range(0, len(asked) if pairs else 0, BLOCK):
            own = ones[:, start : start + BLOCK].T
            for side, here in enumerate([~own, own]):
                cells = []
                for number in counted:
                    second = by_question(number * here, chains, len(asked))
                    cells.append([(number * here).sum(1)[:, None] - second, second])
                gains = np.zeros((2, len(own), len(asked)))
                for target, shift in enumerate(shifts, 1):
                    for gain, total, weight in zip(gains, cells[target], cells[0]):
                        gain += total.astype(float) ** 2 / np.maximum(weight, 1) * 0.5**shift
                if self.min_rows:
                    gains[np.array(cells[-1]) < self.min_rows] = -np.inf
                both = gains.sum(0)
                best = (both >= both.max(1)[:, None] - ROUGH) & (both > -np.inf)
                for row, other in np.argwhere(best).tolist():
                    cost = int(sides[start + row, side, -1])
                    for of in range(2):
                        weight, *sums = (int(cell[of][row, other]) for cell in cells)
                        gained = zip(range(len(shifts)), sums)
                        cost -= sum(self.instance.gain(at, total, weight) for at, total in gained)
                    stumps[start + row, side] = min(stumps[start + row, side], cost)
        return leaves, stumps, np.zeros(leaves.shape, bool)

    def begin(self, points: Any, asked: Any, budget: Budget, target: int) -> Open | None:
        """None if one look shows that these points cost ``target``. With a depth of at most 2 it
        shows what they cost, which may be less."""
        key, leaf, depth = self.key(points), self.leaf, budget.depth
        is_small = depth <= 2
        self.worth = self.proved.get((key, budget), -(2**63))
        if self.worth >= target:
            return None
        self.lemmas += 1
        need(self.lemmas <= self.most_lemmas, "there are more lemmas than the proof says")
        one = self.instance.loss(self.numbers[points].sum(0).tolist()) + leaf
        need(one >= target or is_small, "a leaf costs less")
        if depth == 0 or target <= 2 * leaf and not is_small:
            self.prove(key, budget, one if is_small else min(one, 2 * leaf))
            return None
        asked = self.distinct(points, asked)
        pairs = depth == 2 if is_small else target > 3 * leaf
        leaves, stumps, fails = self.look(points, asked, 0 if is_small else leaf, pairs)
        two = np.minimum(leaves + leaf, stumps + 2 * leaf)
        by_depth = leaves + leaf, two, np.minimum(two, np.where(fails, 4, 3) * leaf)
        halves = budget.halves()
        ways = [[by_depth[min(half[s].depth, 2)][:, s] for s in (0, 1)] for half in halves]
        low = np.array(ways).transpose(2, 0, 1).reshape(-1, 2)
        if is_small or not pairs:
            # Trees of three leaves cost a target that is so low.
            most = one if is_small else min(one, 3 * leaf)
            self.prove(key, budget, min([most, *low.sum(1).tolist()]))
            need(self.worth >= target or is_small, "a split costs less")
            return None
        return Open(points, asked, budget, key, one, target, halves, low)

    def choose(self, top: Open) -> bool:
        """Whether all splits cost enough; if not, the proof says how the least one does."""
        sums = top.low.sum(1)
        if len(sums) == 0 or sums.min() >= top.target:
            return True
        top.split = int(sums.argmin())
        own = top.low[top.split]
        sides = [self.side(top, side) for side in (0, 1)]
        keys = [self.key(points) for points in sides]
        for side in (0, 1):
            self.lift(top, side, self.proved.get((keys[side], top.half(side))))
        first = int(len(sides[1]) > len(sides[0]))
        for side in (first, 1 - first):
            # Trees of less depth were counted with the pairs of questions.
            half = top.half(side)
            is_new = half.depth == 2 and (keys[side], half) not in self.proved
            if is_new and own.sum() < top.target:
                self.begin(sides[side], top.asked, half, 2**63)
                self.lift(top, side, self.worth)
        left, right = (int(cost) for cost in own)
        missing = top.target - left - right
        if missing > 0:
            small = [top.half(side).depth <= 2 for side in (0, 1)]
            need(not all(small), "a split costs less")
            share = small.index(False) if any(small) else self.share()
            need(share - 1 < missing or share < 2, "a share is larger than what is missing")
            if share < 2:
                top.todo = [(share, (left, right)[share] + missing)]
            else:
                top.todo = [(1, right + missing - share + 1), (0, left + share - 1)]
        return False

    def lift(self, top: Open, side: int, cost: int | None) -> None:
        """A side costs at least so much; then so do the sides of other splits that may have no more
        leaves, less the most that points cost which these lack."""
        if cost is None or cost <= top.low[top.split, side]:
            return
        top.low[top.split, side] = cost
        lacking = self.answers[np.ix_(self.side(top, side), top.asked)]
        worst = self.worst[self.side(top, side)]
        lost = np.stack([worst @ lacking, worst @ ~lacking], 1)
        if self.min_rows:
            # A tree on points that are not all on this side may have too few rows in a leaf here.
            more = self.answers[np.ix_(self.side(top, 1 - side), top.asked)]
            lost[np.stack([(~more).any(0), more.any(0)], 1)] = MUCH
        still = top.low.sum(1) < top.target
        still[top.split] = False
        leaves = top.half(side).leaves
        fits = np.array([[half.leaves <= leaves for half in way] for way in top.halves])
        costs = np.where(fits, cost - lost[:, None], 0).reshape(-1, 2)
        top.low[still] = np.maximum(top.low, costs)[still]

    def share(self) -> int:
        """The next number of the proof: seven bits in each byte, the lowest first."""
        number = 0
        for place in range(9):
            need(self.at < len(self.shares), "the proof ends too early")
            byte = self.shares[self.at]
            self.at += 1
            number |= (byte & 127) << (7 * place)
            if byte < 128:
                need(place == 0 or byte, "a share has zeros to spare")
                return number
        raise Wrong("a share is too large")


def in_chains(ones: Any) -> Iterator[tuple[slice, Any, Any]]:
    """Questions in chains, each of which is answered with 1 by points that answer so the one before
    it, as growing thresholds are. Of each chain: its questions, the points by how many of these
    they answer with 1, and how many answer each so."""
    breaks = 1 + np.flatnonzero((ones[:, 1:] & ~ones[:, :-1]).any(0))
    for start, end in zip([0, *breaks], [*breaks, ones.shape[1]]):
        own = ones[:, start:end]
        yield slice(start, end), np.argsort(-own.sum(1), kind="stable"), own.sum(0)


def by_question(numbers: Any, chains: Any, n: int) -> Any:
    """Sums of rows of numbers of points over those that answer 1."""
    out = np.empty((len(numbers), n), np.int64)
    for questions, order, counts in chains:
        out[:, questions] = np.cumsum(numbers[:, order], 1)[:, counts - 1]
    return out


def digest(data: bytes) -> str:
    found = 0xCBF29CE484222325
    for byte in data:
        found = (found ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return f"{found:016x}"


def verify(instance: bytes, proof: bytes) -> Verdict:
    read = Instance(instance)
    pattern = rb"certree proof 1\ninstance ([^\n]*)\ntree ([^\n]*)\nbound ([^\n]*)\n"
    head = re.match(pattern + rb"lemmas ([^\n]*)\nend\n", proof)
    need(head, "this is no proof of version 1")
    assert head
    wanted, tree, bound_, lemmas = (part.decode() for part in head.groups())
    need(wanted == digest(instance), "the proof is of another instance")
    bound, cost, most = whole(bound_), read.cost_of_tree(tree), whole(lemmas)
    need(0 <= bound <= cost and most >= 0, "the bound is no cost, or above that of the tree")
    checker = Checker(read, proof[head.end() :], most)
    try:
        checker.run(within(read.depth, read.leaves), bound - checker.unavoidable)
    except Wrong as error:
        raise Wrong(f"lemma {checker.lemmas}: {error}") from None
    need(checker.at == len(checker.shares), "the proof goes on after its end")
    why = f"the tree costs {cost} (objective {(cost + read.offset) / read.units:.9f}), "
    why += f"every tree at least {bound}; "
    why += f"costs are rounded, by {read.slack} at most; " if read.slack else ""
    why += f"{checker.lemmas} lemmas"
    return Verdict("VERIFIED" if cost == bound else "VERIFIED UP TO", why, bound, cost)


def check(instance: bytes, proof: bytes) -> Verdict:
    """The verdict on a proof and its instance, which are given as the bytes of their files."""
    try:
        return verify(instance, proof)
    except (Wrong, UnicodeDecodeError, ValueError) as error:
        return Verdict("NOT VERIFIED", str(error))


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: python -m certree.check_proof INSTANCE.ctd PROOF.ctp", file=sys.stderr)
        return 2
    verdict = check(*(Path(path).read_bytes() for path in sys.argv[1:]))
    gap = f" {verdict.cost - verdict.bound}" if verdict.kind == "VERIFIED UP TO" else ""
    print(f"{verdict.kind}{gap}: {verdict.why}")
    return {"VERIFIED": 0, "VERIFIED UP TO": 3}.get(verdict.kind, 1)


if __name__ == "__main__":
    raise SystemExit(main())
