"""Cases for the fuzzers: files of the corpus with parts changed, doubled, swapped or cut, and
frames from nothing."""

from __future__ import annotations

import json
import random
from typing import Any

#: Bytes that mean something to one reader or another.
TOKENS = [
    *(
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\n",
        b"\r",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"null",
    ),
    *(
        b"-1",
        b"1e999",
        b"NaN",
        b"9" * 40,
        b"\x1b[2J",
        b"true",
        b"1999-02-30",
        b"^.*$",
        b"*",
        b"PAR1",
        b"\x15\x80",
    ),
]

VALUES: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2**31,
        2**53 + 1,
        -(2**63),
        2**64,
        10**300,
        0.5,
        -0.0,
        1e308,
        5e-324,
        "",
        "*",
    ),
    *(
        "9007199254740993",
        "\0",
        "\x1b[2J",
        "^a$",
        "é" * 50,
        [],
        {},
        [[]],
        "Int64",
        "Date",
        "boolean",
        "category",
    ),
    *(
        "Datetime(time_unit='ns', time_zone='Nowhere/Land')",
        "regression",
        "object",
        "bytes",
        "float16",
        "uint8",
    ),
]


def case(name: str, corpus: list[bytes], rng: random.Random) -> bytes:
    if name == "frames":
        # The reader makes a frame from this seed.
        return str(rng.getrandbits(48)).encode()
    data = rng.choice(corpus)
    if name == "json" and rng.random() < 0.7:
        return document(data, rng)
    for _ in range(rng.choice((1, 1, 1, 2, 4, 16))):
        data = damaged(data, corpus, rng)
    return data


def damaged(data: bytes, corpus: list[bytes], rng: random.Random) -> bytes:
    """One change of bytes."""
    at = rng.randrange(len(data) + 1)
    to = min(len(data), at + rng.choice((1, 1, 2, 4, 8, 64, 512)))
    return rng.choice(
        [
            lambda: data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :],
            lambda: data[:at] + bytes(
                [data[at] ^ 1 << rng.randrange(8)]
            ) + data[at + 1 :] if at < len(data) else data,
            lambda: data[:at] + rng.choice(TOKENS) + data[at:],
            lambda: data[:at] + rng.choice(TOKENS) + data[to:],
            lambda: data[:at] + data[to:],
            lambda: data[:to] + data[at:to] * rng.choice((1, 2, 100)) + data[to:],
            lambda: data[:at],
            lambda: data[at:],
            lambda: data[:at] + rng.choice(corpus)[at:],
            lambda: data[:at] + rng.randbytes(to - at) + data[to:],
        ]
    )()


def document(data: bytes, rng: random.Random) -> bytes:
    """A JSON document with some of its members replaced, removed or moved."""
    found = json.loads(data)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        places = [(found, key) for key in found] if isinstance(found, dict) else []
        index = 0
        while index < len(places) and len(places) < 5_000:
            holder, key = places[index]
            inner = holder[key]
            index += 1
            if isinstance(inner, dict):
                places += [(inner, name) for name in inner]
            elif isinstance(inner, list):
                places += [(inner, place) for place in range(len(inner))]
        if not places:
            break
        holder, key = rng.choice(places)
        other, place = rng.choice(places)
        action = rng.randrange(5)
        if action == 0:
            del holder[key]
        elif action == 1 and isinstance(holder[key], int):
            holder[key] += rng.choice((-1, 1, 2, 100))
        elif action == 2:
            # A copy, because documents have no cycles.
            try:
                holder[key] = json.loads(json.dumps(other[place]))
            except (KeyError, IndexError):
                continue
        else:
            holder[key] = rng.choice(VALUES)
    return json.dumps(found).encode()
