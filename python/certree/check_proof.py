"""Checks proofs that no decision tree is better than a given one: ``python -m certree.check_proof
INSTANCE PROOF``. It needs this file and numpy, and no other part of certree. ``docs/proof.md`` says
what the files hold, and why each step is sound."""

import os
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

#: No sum of costs is larger, so that no sum overflows.
MOST = 1 << 57
#: A depth that is not limited.
UNLIMITED = (1 << 32) - 1


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


class Instance:
    def __init__(self, data: bytes) -> None:
        text = data.decode()
        need(text.endswith("\nend\n"), "the instance has no end")
        lines = text[:-5].split("\n")
        names = ["depth", "leaf", "offset", "units", "slack", "labels", "questions", "points"]
        need(lines[0] == "certree instance 1", "this is no instance of version 1")
        need(len(lines) > len(names), "the instance has no points")
        head = {}
        for name, line in zip(names, lines[1:]):
            need(line.startswith(f"{name} "), f"the instance has no {name}")
            head[name] = line[len(name) + 1 :]
        self.depth = UNLIMITED if head["depth"] == "none" else whole(head["depth"])
        self.leaf, self.offset = whole(head["leaf"]), whole(head["offset"])
        self.units, slack = float(head["units"]), whole(head["slack"])
        labels, questions, points = (whole(head[name]) for name in names[5:])
        ok = 0 <= self.leaf <= MOST and slack >= 0 and labels > 0 and self.units > 0
        need(ok and 0 <= self.depth <= UNLIMITED, "a number of the instance is out of range")
        asked, answers, costs = 0, [], []
        for line in lines[len(names) + 1 :]:
            kind, _, rest = line.partition(" ")
            asked += kind == "question"
            need(kind in ("question", "about", "point"), "a line of the instance is of no kind")
            if kind == "point":
                bits, *own = rest.split(" ")
                fits = len(bits) == questions and not bits.strip("01") and len(own) == labels
                need(fits, "a point does not answer each question, or lacks a cost")
                answers.append(np.frombuffer(bits.encode(), np.uint8) == ord("1"))
                costs.append([whole(cost) for cost in own])
        need(asked == questions and len(costs) == points > 0, "there are other questions or points")
        need(min(map(min, costs)) >= 0, "a cost is negative")
        need(sum(map(max, costs)) <= MOST, "the costs of the instance are too large")
        self.answers = np.array(answers, bool).reshape(points, questions)
        self.costs = np.array(costs, np.int64)

    def cost_of_tree(self, words: str) -> int:
        """Preorder, a question or ``-`` for a leaf; answer 0 goes to the first child."""
        open_, cost = [(np.arange(len(self.costs)), 0)], 0
        for word in words.split(" "):
            need(open_, "the tree of the proof has too many nodes")
            points, depth = open_.pop()
            if word == "-":
                cost += int(self.costs[points].sum(0).min()) + self.leaf
                continue
            question = whole(word)
            need(0 <= question < self.answers.shape[1], "the tree asks what is not there")
            right = self.answers[points, question]
            fits = depth < self.depth and right.any() and not right.all()
            need(fits, "the tree of the proof is too deep, or has an empty leaf")
            open_ += [(points[right], depth + 1), (points[~right], depth + 1)]
        need(not open_, "the tree of the proof is not whole")
        return cost


class Open:
    """A lemma that is not proved yet: each tree of these points costs at least ``target``."""

    def __init__(
        self, points: Any, asked: Any, depth: int, key: Any, one: int, target: int
    ) -> None:
        self.points, self.asked, self.depth, self.key = points, asked, depth, key
        #: What one leaf costs.
        self.one = one
        self.target, self.question = target, 0
        #: By question and side: what every tree of these points costs at least.
        self.low = np.zeros((0, 2), np.int64)
        #: What sides are to be proved to cost.
        self.todo: list[tuple[int, int]] = []


class Checker:
    def __init__(self, instance: Instance, shares: bytes, most_lemmas: int) -> None:
        least = instance.costs.min(1)
        self.unavoidable = int(least.sum())
        self.costs = instance.costs - least[:, None]
        self.worst, self.leaf, self.answers = self.costs.max(1), instance.leaf, instance.answers
        # Drawn when the proof is there already.
        self.keys = np.frombuffer(os.urandom(16 * len(least)), np.uint64).reshape(-1, 2)
        self.shares, self.at, self.most_lemmas, self.lemmas = shares, 0, most_lemmas, 0
        self.proved: dict[tuple[Any, int], int] = {}
        #: What the points of the last lemma that was proved cost at least.
        self.worth = 0

    def run(self, depth: int, target: int) -> None:
        top = self.begin(np.flatnonzero(self.worst), self.all_questions(), depth, target)
        stack = [top] if top else []
        while stack:
            top = stack[-1]
            if top.todo:
                side, target = top.todo[-1]
                child, is_low = None, top.low[top.question, side] < target
                if is_low:
                    points = self.side(top, side)
                    child = self.begin(points, top.asked, below(top.depth), target)
                if child:
                    stack.append(child)
                else:
                    top.todo.pop()
                    self.lift(top, side, self.worth if is_low else None)
            elif self.choose(top):
                self.prove(top.key, top.depth, min([top.one, *top.low.sum(1).tolist()]))
                stack.pop()
                if stack:
                    self.lift(stack[-1], stack[-1].todo.pop()[0], self.worth)

    def all_questions(self) -> Any:
        return np.arange(self.answers.shape[1])

    def side(self, top: Open, side: int) -> Any:
        return top.points[self.answers[top.points, top.asked[top.question]] == bool(side)]

    def key(self, points: Any) -> Any:
        return np.bitwise_xor.reduce(self.keys[points], 0, initial=np.uint64(0)).tobytes()

    def prove(self, key: Any, depth: int, cost: int) -> None:
        self.worth = max(cost, self.proved.get((key, depth), cost))
        self.proved[key, depth] = self.worth

    def count(self) -> None:
        self.lemmas += 1
        need(self.lemmas <= self.most_lemmas, "there are more lemmas than the proof says")

    def distinct(self, points: Any, asked: Any) -> Any:
        """Of questions that part the points alike only the first."""
        sides = self.answers[np.ix_(points, asked)]
        sides = np.packbits(sides ^ sides[:1], 0)
        seen: dict[bytes, int] = {}
        for place, column in enumerate(np.ascontiguousarray(sides.T)):
            if column.any():
                seen.setdefault(column.tobytes(), place)
        return asked[sorted(seen.values())]

    def look(self, points: Any, asked: Any, pairs: bool) -> tuple[Any, Any, Any]:
        """What sides of questions cost as leaves and with one split, and whether no tree of three
        leaves loses less than a leaf costs."""
        one = self.answers[np.ix_(points, asked)].astype(np.int64)
        bits, costs, leaf = np.stack([1 - one, one]), self.costs[points], self.leaf
        of_sides = np.einsum("spq,pl->qsl", bits, costs)
        leaves = of_sides.min(2)
        stumps, fails = leaves.copy(), np.zeros(leaves.shape, bool)
        for side in (0, 1) if pairs and len(asked) else ():
            cells = np.stack([
                np.stack([(bits[side] * cost[:, None]).T @ bits[other] for other in (0, 1)])
                for cost in costs.T
            ])
            stumps[:, side] = np.minimum(leaves[:, side], cells.min(0).sum(0).min(1))
            if costs.shape[1] == 2 and leaf > 0:
                halves = np.where(cells[::-1] < leaf, cells, 0).max((1, 3))
                fails[:, side] = (of_sides[:, side].T >= 2 * halves + leaf).all(0)
        return leaves, stumps, fails

    def begin(self, points: Any, asked: Any, depth: int, target: int) -> Open | None:
        """None if one look shows that these points cost ``target``."""
        key, leaf = self.key(points), self.leaf
        self.worth = self.proved.get((key, depth), -(2**63))
        if self.worth >= target:
            return None
        if depth <= 2:
            need(self.exact(points, asked, key, depth) >= target, "a small tree costs less")
            return None
        self.count()
        one = int(self.costs[points].sum(0).min()) + leaf
        need(one >= target, "a leaf costs less")
        if target <= 2 * leaf:
            self.prove(key, depth, min(one, 2 * leaf))
            return None
        asked = self.distinct(points, asked)
        leaves, stumps, fails = self.look(points, asked, target > 3 * leaf)
        if target <= 3 * leaf:
            self.prove(key, depth, min([one, 3 * leaf, *(leaves.sum(1) + 2 * leaf).tolist()]))
            need(self.worth >= target, "a split costs less")
            return None
        top = Open(points, asked, depth, key, one, target)
        small = np.minimum(leaves + leaf, stumps + 2 * leaf)
        top.low = np.minimum(small, np.where(fails, 4, 3) * leaf)
        return top

    def exact(self, points: Any, asked: Any, key: Any, depth: int) -> int:
        """What the best tree of depth two costs, or of less depth."""
        self.count()
        best, leaf = int(self.costs[points].sum(0).min()) + self.leaf, self.leaf
        if depth > 0:
            leaves, stumps, _ = self.look(points, self.distinct(points, asked), depth == 2)
            small = np.minimum(leaves + leaf, stumps + 2 * leaf) if depth == 2 else leaves + leaf
            best = min([best, *small.sum(1).tolist()])
        self.prove(key, depth, best)
        return best

    def choose(self, top: Open) -> bool:
        """Whether all splits cost enough; if not, the proof says how the least one does."""
        sums = top.low.sum(1)
        if len(sums) == 0 or sums.min() >= top.target:
            return True
        top.question, depth = int(sums.argmin()), below(top.depth)
        own = top.low[top.question]
        sides = [self.side(top, side) for side in (0, 1)]
        keys = [self.key(points) for points in sides]
        for side in (0, 1):
            self.lift(top, side, self.proved.get((keys[side], depth)))
        if depth <= 2:
            first = int(len(sides[1]) > len(sides[0]))
            for side in (first, 1 - first):
                if own.sum() < top.target and (keys[side], depth) not in self.proved:
                    self.lift(top, side, self.exact(sides[side], top.asked, keys[side], depth))
            need(own.sum() >= top.target, "a split costs less")
            return False
        left, right = (int(cost) for cost in own)
        missing = top.target - left - right
        if missing > 0:
            share = self.share()
            need(share - 1 < missing or share < 2, "a share is larger than what is missing")
            if share < 2:
                top.todo = [(share, (left, right)[share] + missing)]
            else:
                top.todo = [(1, right + missing - share + 1), (0, left + share - 1)]
        return False

    def lift(self, top: Open, side: int, cost: int | None) -> None:
        """A side costs at least so much; then so do the sides of other questions, less the most
        that points cost which these lack."""
        if cost is None or cost <= top.low[top.question, side]:
            return
        top.low[top.question, side] = cost
        lacking = self.answers[np.ix_(self.side(top, side), top.asked)]
        worst = self.worst[self.side(top, side)]
        lost = np.stack([worst @ lacking, worst @ ~lacking], 1)
        still = top.low.sum(1) < top.target
        still[top.question] = False
        top.low[still] = np.maximum(top.low, cost - lost)[still]

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


def below(depth: int) -> int:
    return depth if depth == UNLIMITED else depth - 1


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
        checker.run(read.depth, bound - checker.unavoidable)
    except Wrong as error:
        raise Wrong(f"lemma {checker.lemmas}: {error}") from None
    need(checker.at == len(checker.shares), "the proof goes on after its end")
    why = f"the tree costs {cost} (objective {(cost + read.offset) / read.units:.9f}), "
    why += f"every tree at least {bound}; {checker.lemmas} lemmas"
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
