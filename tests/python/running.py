"""Trees as functions of other languages, compiled and run over rows that come through a pipe.

A case is a tree, what it answers, and a frame. A row is a line: the number of its case, and for
each tested column a field, which is empty where the value is missing, "=" and a number, or "=" and
the hexadecimal bytes of a text. An answer is a line of such fields.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import warnings
from typing import NamedTuple

import polars as pl
import pytest

from certree.schema import TIMED
from certree.tree import Tree


class Case(NamedTuple):
    tree: Tree
    output: str
    frame: pl.DataFrame


def tested(tree):
    return list({node.split.column.name: node.split.column for node in tree.nodes if node.split})


def values(case, name):
    """A column's values: moments in their unit, and levels as texts."""
    column = next(each for each in case.tree.columns if each.name == name)
    series = case.frame[name]
    if column.kind in TIMED:
        series = series.to_physical()
    if column.kind in ("category", "ordered"):
        series = series.cast(pl.String)
    return [None if value != value else value for value in series.to_list()]


def field(value):
    if value is None:
        return ""
    if isinstance(value, str):
        return f"={value.encode().hex()}"
    return f"={float(value)!r}" if isinstance(value, float) else f"={int(value)}"


def lines_of(cases):
    for at, case in enumerate(cases):
        columns = [map(field, values(case, name)) for name in tested(case.tree)]
        rows = zip(*columns) if columns else [()] * case.frame.height
        for row in rows:
            yield "\t".join([str(at), *row])


def expected(case):
    """By `predict`, and None of rows that the tree refuses."""
    tree, rows = case.tree, case.frame
    lenient = tree._with(missing_unseen="larger", unseen="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = {
            "label": lenient.predict, "leaf": lenient.apply, "proba": lenient.predict_proba
        }[case.output](rows)
    if isinstance(found, list):
        answers = [list(map(list, each)) for each in zip(*(part.tolist() for part in found))]
    else:
        answers = found.tolist()
    for column in tree.columns:
        if column.name in tested(tree):
            for row, value in enumerate(values(case, column.name)):
                gone = tree.refuses_missing(column) and value is None
                strange = tree.refuses_unseen(column) and value not in (None, *column.values)
                answers[row] = None if gone or strange else answers[row]
    return answers


def answered(language, cases, folder):
    """By case, what its function answers for each row."""
    lines = iter(RUNS[language](cases, folder).splitlines())
    found = []
    for case in cases:
        answers = []
        for _ in range(case.frame.height):
            parts = [list(map(one, part.split(","))) for part in next(lines).split("\t")]
            answers.append(shaped(case, parts))
        found.append(answers)
    assert next(lines, None) is None
    return found


def one(text):
    kind, rest = text[:1], text[1:]
    if kind == "s":
        return bytes.fromhex(rest).decode()
    return {"r": lambda _: None, "b": lambda t: t == "1", "i": int, "f": float}[kind](rest)


def shaped(case, parts):
    if parts == [[None]]:
        return None
    if case.output == "proba":
        return parts if case.tree.task == "targets" else parts[0]
    flat = [value for (value,) in parts]
    return flat if isinstance(case.tree.nodes[0].label, tuple) and case.output == "label" else (
        flat[0]
    )


def agree(language, cases, folder):
    for case, found in zip(cases, answered(language, cases, folder)):
        wanted = expected(case)
        # JavaScript has one type of numbers.
        wanted = floats(wanted) if language == "javascript" else wanted
        # Not just equal: of the same types, and floats to the bit.
        assert repr(found) == repr(wanted), case.tree


def floats(answers):
    if isinstance(answers, list):
        return list(map(floats, answers))
    whole = isinstance(answers, int) and not isinstance(answers, bool) and abs(answers) < 2**53
    return float(answers) if whole else answers


def run(command, **given):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **given)
    assert done.returncode == 0, done.stderr[:3000]
    return done.stdout


def needs(program):
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not here")
    return found


def told(source, opening, pattern):
    """The members of a structure, as pairs of name and type."""
    body = source.partition(opening)[2].partition("\n}")[0]
    return re.findall(pattern, body, flags=re.MULTILINE)


# ---- C

C_MAIN = r"""
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static double number(const char *field) { return *field ? strtod(field + 1, NULL) : NAN; }
static int boolean(const char *field) { return *field ? atoi(field + 1) : -1; }
static const int64_t *whole(const char *field, int64_t *kept) {
    *kept = *field ? strtoll(field + 1, NULL, 10) : 0;
    return *field ? kept : NULL;
}
static const uint64_t *natural(const char *field, uint64_t *kept) {
    *kept = *field ? strtoull(field + 1, NULL, 10) : 0;
    return *field ? kept : NULL;
}
static const char *text(char *field) {
    if (!*field) return NULL;
    char *out = field;
    for (const char *in = field + 1; *in; in += 2) {
        const char two[3] = {in[0], in[1], 0};
        *out++ = (char)strtol(two, NULL, 16);
    }
    *out = 0;
    return field;
}
static void put_text(const char *s) {
    putchar('s');
    for (; *s; s++) printf("%02x", (unsigned char)*s);
}
static void put_whole(int64_t value) { printf("i%" PRId64, value); }
static void put_number(double value) { printf("f%.17g", value); }
static void put_boolean(int value) { printf("b%d", value); }
static void put_numbers(const double *values, int n) {
    for (int k = 0; k < n; k++) { if (k) putchar(','); put_number(values[k]); }
}
"""

C_READ = {
    "double ": "number(f[{at}])",
    "int ": "boolean(f[{at}])",
    "const char *": "text(f[{at}])",
    "const int64_t *": "whole(f[{at}], &wholes[{at}])",
    "const uint64_t *": "natural(f[{at}], &naturals[{at}])",
}
C_PUT = {"const char *": "text", "int64_t ": "whole", "double ": "number", "int ": "boolean"}
C_MEMBER = r"^    ([a-z0-9_ ]+[ *])(\w+)(?:\[(\d+)\])?;$"
C_FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]


def in_c(cases, folder):
    compiler = needs("gcc")
    codes = [case.tree.to_c(case.output, f"tree_{at}") for at, case in enumerate(cases)]
    for_all = [_c_case(f"tree_{at}", code) for at, code in enumerate(codes)]
    most = 1 + max(len(tested(case.tree)) for case in cases)
    calls = "\n".join(f"    case {at}: run_tree_{at}(fields); break;" for at in range(len(cases)))
    main = f"""
static char line[1 << 20];
int main(void) {{
    while (fgets(line, sizeof line, stdin)) {{
        char *fields[{most}];
        int n = 0;
        line[strcspn(line, "\\n")] = 0;
        for (char *at = line; at && n < {most}; n++) {{
            char *tab = strchr(at, '\\t');
            if (tab) *tab++ = 0;
            fields[n] = at;
            at = tab;
        }}
        switch (atoi(fields[0])) {{
{calls}
        }}
        putchar('\\n');
    }}
    return 0;
}}
"""
    # What the trees wrote is compiled by itself, with warnings as errors.
    (folder / "trees.c").write_text("\n".join(codes))
    run([compiler, *C_FLAGS, "-c", "trees.c"], cwd=folder)
    (folder / "main.c").write_text(
        "\n".join(['#include "trees.c"', C_MAIN, *for_all, main]), encoding="ascii"
    )
    run([compiler, "-std=c99", "-O0", "main.c", "-o", "main"], cwd=folder)
    return run([str(folder / "main")], input="\n".join([*lines_of(cases), ""]))


def _c_case(name, code):
    members = [m for m in told(code, f"struct {name}_row {{", C_MEMBER) if m[1] != "nothing"]
    lines = [
        f"static void run_{name}(char **f) {{",
        f"    struct {name}_row row;",
        f"    int64_t wholes[{len(members) + 2}]; uint64_t naturals[{len(members) + 2}];",
        "    (void)f; (void)wholes; (void)naturals;",
    ]
    lines += [
        f"    row.{own} = {C_READ[kind].format(at=at)};"
        for at, (kind, own, _) in enumerate(members, 1)
    ]
    answer = re.search(rf"^int {name}\(.*, (.*?)answer(?:\[(\d+)\])?\);$", code, re.MULTILINE)
    kind, n = answer.groups()
    refused = f"    if (!{name}(&row, {'' if n else '&'}answer)) {{ putchar('r'); return; }}"
    if n:
        return "\n".join([*lines, f"double answer[{n}];", refused, f"put_numbers(answer, {n});}}"])
    if not kind.startswith("struct"):
        kind = kind[:-1]
        return "\n".join([*lines, f"{kind} answer;", refused, f"put_{C_PUT[kind]}(answer);}}"])
    lines += [f"struct {name}_answer answer;", refused]
    for at, (kind, own, n) in enumerate(told(code, f"struct {name}_answer {{", C_MEMBER)):
        lines += ["putchar('\\t');"] if at else []
        lines.append(
            f"put_numbers(answer.{own}, {n});" if n else f"put_{C_PUT[kind]}(answer.{own});"
        )
    return "\n".join([*lines, "}"])


# ---- JavaScript

JS_MAIN = r"""
import { createInterface } from "node:readline";
const text = (hex) => Buffer.from(hex, "hex").toString("utf-8");
const parse = {
  number: (t) => Number(t.replace("inf", "Infinity")),
  whole: BigInt,
  boolean: (t) => t === "1",
  text,
};
function put(value) {
  if (value === null) return "r";
  switch (typeof value) {
    case "string": return "s" + Buffer.from(value, "utf-8").toString("hex");
    case "boolean": return value ? "b1" : "b0";
    case "bigint": return "i" + value;
    default: return Object.is(value, -0) ? "f-0.0" : "f" + value;
  }
}
const several = (value, outer, inner) =>
  !Array.isArray(value) ? put(value)
  : value.map((each) => several(each, inner, inner)).join(outer);
const out = [];
for await (const line of createInterface({ input: process.stdin })) {
  const [at, ...fields] = line.split("\t");
  const [predict, columns, outer] = CASES[Number(at)];
  const row = {};
  columns.forEach(([name, kind], k) => {
    const value = fields[k] === "" ? null : parse[kind](fields[k].slice(1));
    Object.defineProperty(row, name, { value, enumerable: true });
  });
  out.push(several(predict(row), outer, ","));
}
console.log(out.join("\n"));
"""


def in_javascript(cases, folder):
    node = needs("node")
    codes = [case.tree.to_javascript(case.output, f"tree_{at}") for at, case in enumerate(cases)]
    table = []
    for at, case in enumerate(cases):
        columns = [
            [name, _js_kind(next(each for each in case.tree.columns if each.name == name))]
            for name in tested(case.tree)
        ]
        outer = "," if case.output == "proba" and case.tree.task != "targets" else "\t"
        table.append(f"[tree_{at}, {json.dumps(columns)}, {json.dumps(outer)}]")
    source = [*codes, f"const CASES = [{', '.join(table)}];", JS_MAIN]
    (folder / "main.mjs").write_text("\n".join(source), encoding="ascii")
    return run([node, str(folder / "main.mjs")], input="\n".join([*lines_of(cases), ""]))


def _js_kind(column):
    if column.kind in TIMED or "Int64" in column.dtype:
        return "whole"
    return {"category": "text", "ordered": "text"}.get(column.kind, column.kind)


# ---- Rust

RUST_MAIN = r"""
use std::io::BufRead;
struct Field(Option<String>);
#[allow(dead_code)]
impl Field {
    fn read(field: &str) -> Field { Field(field.strip_prefix('=').map(str::to_string)) }
    fn number(&self) -> Option<f64> { self.0.as_ref().map(|t| t.parse().unwrap()) }
    fn whole(&self) -> Option<i64> { self.0.as_ref().map(|t| t.parse().unwrap()) }
    fn natural(&self) -> Option<u64> { self.0.as_ref().map(|t| t.parse().unwrap()) }
    fn boolean(&self) -> Option<bool> { self.0.as_ref().map(|t| t == "1") }
    fn text(&self) -> Option<String> {
        self.0.as_ref().map(|t| {
            let bytes = (0..t.len() / 2)
                .map(|at| u8::from_str_radix(&t[2 * at..2 * at + 2], 16).unwrap())
                .collect();
            String::from_utf8(bytes).unwrap()
        })
    }
}
trait Put { fn put(&self) -> String; }
impl Put for &'static str {
    fn put(&self) -> String {
        let bytes: String = self.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("s{bytes}")
    }
}
impl Put for i64 { fn put(&self) -> String { format!("i{self}") } }
impl Put for f64 { fn put(&self) -> String { format!("f{self:?}") } }
impl Put for bool { fn put(&self) -> String { format!("b{}", u8::from(*self)) } }
impl<const N: usize> Put for [f64; N] {
    fn put(&self) -> String { self.map(|value| value.put()).join(",") }
}
"""
RUST_READ = {"f64": "number", "i64": "whole", "u64": "natural", "bool": "boolean"}


def in_rust(cases, folder):
    compiler = needs("rustc")
    codes = [case.tree.to_rust(case.output, f"tree_{at}") for at, case in enumerate(cases)]
    for_all = [_rust_case(f"tree_{at}", f"Tree{at}", code) for at, code in enumerate(codes)]
    calls = "\n".join(f"            {at} => run_tree_{at}(f)," for at in range(len(cases)))
    main = f"""
fn main() {{
    for line in std::io::stdin().lock().lines() {{
        let line = line.unwrap();
        let mut fields = line.split('\\t');
        let at: usize = fields.next().unwrap().parse().unwrap();
        let fields: Vec<Field> = fields.map(Field::read).collect();
        let f = &fields;
        println!("{{}}", match at {{
{calls}
            _ => unreachable!(),
        }});
    }}
}}
"""
    source = ["#![deny(warnings)]", "#![forbid(unsafe_code)]", *codes, RUST_MAIN, *for_all, main]
    (folder / "main.rs").write_text("\n".join(source), encoding="ascii")
    options = ["--edition", "2021", "-Cdebuginfo=0", "-o", "main"]
    run([compiler, *options, "main.rs"], cwd=folder)
    return run([str(folder / "main")], input="\n".join([*lines_of(cases), ""]))


def _rust_case(name, camel, code):
    head = re.search(rf"^pub struct {camel}Row(?:<'a>)? \{{$", code, re.MULTILINE).group()
    fields = told(code, head, r"^    pub (\w+): Option<(.*)>,$")
    lines = [f"fn run_{name}(f: &[Field]) -> String {{ let _ = f;"]
    members = []
    for at, (own, kind) in enumerate(fields):
        if kind == "&'a str":
            lines.append(f"    let text_{at} = f[{at}].text();")
            members.append(f"{own}: text_{at}.as_deref()")
        else:
            members.append(f"{own}: f[{at}].{RUST_READ[kind]}()")
    lines.append(f"    let row = {camel}Row {{ {', '.join(members)} }};")
    answer = f"pub struct {camel}Answer {{"
    parts = [own for own, _ in told(code, answer, r"^    pub (\w+): (.*),$")]
    shown = f"[{', '.join(f'answer.{own}.put()' for own in parts)}].join(\"\\t\")"
    shown = shown if parts else "answer.put()"
    lines.append(f"    {name}(&row).map_or(\"r\".to_string(), |answer| {shown})")
    return "\n".join([*lines, "}"])


RUNS = {"c": in_c, "javascript": in_javascript, "rust": in_rust}
