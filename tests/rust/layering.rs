//! The layers of `docs/architecture/overview.md`, read from its table and held against the imports
//! in `rust/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 600;
const WIDTH: usize = 100;

pub struct Source {
    /// Below `rust/`, with `/` between folders.
    pub path: String,
    lines: usize,
    /// Without comments, strings' contents and unit tests: what the library itself is made of.
    pub code: String,
}

impl Source {
    /// The top module: `data` for `data/points.rs`.
    fn module(&self) -> &str {
        let end = self.path.find(['/', '.']).unwrap_or(self.path.len());
        &self.path[..end]
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// The files of Rust below a folder, with `/` between folders, and their texts.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut folders = vec![folder.to_path_buf()];
    let mut found = Vec::new();
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let below = path.strip_prefix(folder).unwrap();
                let parts: Vec<_> = below.iter().map(|part| part.to_str().unwrap()).collect();
                found.push((parts.join("/"), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

pub fn sources() -> Vec<Source> {
    let of = |(path, text): (String, String)| {
        let (lines, code) = (text.lines().count(), code(&text));
        Source { path, lines, code }
    };
    let found: Vec<Source> = files(&root().join("rust")).into_iter().map(of).collect();
    assert!(found.len() > 20, "the sources are in rust/");
    found
}

/// True of the line before unit tests.
fn is_of_tests(line: &str) -> bool {
    ["#[cfg(test)]", "#[cfg(all(test"].iter().any(|start| line.trim().starts_with(start))
}

/// The text up to its unit tests, without comments and what is between quotes.
fn code(text: &str) -> String {
    let mut code = String::new();
    for line in text.lines().take_while(|line| !is_of_tests(line)) {
        let mut quoted = false;
        let mut escaped = false;
        for (at, letter) in line.char_indices() {
            if !quoted && line[at..].starts_with("//") {
                break;
            }
            if letter == '"' && !escaped && !line[..at].ends_with('\'') {
                quoted = !quoted;
            } else if !quoted {
                code.push(letter);
            }
            escaped = quoted && letter == '\\' && !escaped;
        }
        code.push('\n');
    }
    code
}

/// What follows `prefix` each time: the first names of `crate::a::B`, `crate::{a, b::C}`.
fn names_after(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => names.extend(first_names(group)),
            None => names.extend(first_name(rest)),
        }
    }
    names
}

fn first_name(text: &str) -> Option<String> {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

/// The first name of each item of a group, up to its closing brace.
fn first_names(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0;
    let mut item = 0;
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                names.extend(first_name(&group[item..at]));
                if letter == '}' {
                    break;
                }
                item = at + 1;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names
}

fn imports(source: &Source) -> BTreeSet<String> {
    names_after(&source.code, "crate::")
}

/// Module → what it may import, from the table.
fn layers() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(root().join("docs/architecture/overview.md")).unwrap();
    let quoted =
        |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let mut layers = BTreeMap::new();
    let table = text.lines().skip_while(|line| !line.starts_with("| module ")).skip(2);
    for line in table.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        let mut allowed: BTreeSet<String> = quoted(cells[1]).into_iter().collect();
        if cells[1].contains("everything above") {
            allowed.extend(layers.keys().cloned());
        }
        for name in &allowed {
            assert!(layers.contains_key(name), "`{name}` is not above this row: {line}");
        }
        for module in quoted(cells[0]) {
            layers.insert(module, allowed.clone());
        }
    }
    assert!(layers.len() > 10, "the table is in docs/architecture/overview.md");
    layers
}

#[test]
fn modules_import_only_what_the_table_allows() {
    let layers = layers();
    for source in sources().iter().filter(|source| source.path != "lib.rs") {
        let module = source.module();
        let allowed = layers.get(module).unwrap_or_else(|| panic!("`{module}` has no row"));
        for name in imports(source) {
            assert!(
                name == module || allowed.contains(&name),
                "rust/{} imports `{name}`, which its row does not allow",
                source.path
            );
        }
    }
}

#[test]
fn searches_do_not_know_their_siblings() {
    let sources = sources();
    let child = |path: &str| {
        let rest = path.strip_prefix("search/")?;
        Some(rest.split(['/', '.']).next().unwrap_or(rest).to_owned()).filter(|c| c != "mod")
    };
    let children: BTreeSet<String> = sources.iter().filter_map(|s| child(&s.path)).collect();
    for source in &sources {
        let Some(own) = child(&source.path) else { continue };
        let mut names = names_after(&source.code, "crate::search::");
        let is_top = source.path.matches('/').count() == 1 || source.path.ends_with("/mod.rs");
        if is_top {
            names.extend(names_after(&source.code, "super::"));
        }
        for name in names {
            assert!(
                name == own || name == "common" || !children.contains(&name),
                "rust/{} imports its sibling `{name}`",
                source.path
            );
        }
    }
}

#[test]
fn imports_that_climb_twice_name_their_module() {
    for source in sources() {
        assert!(!source.code.contains("super::super::"), "rust/{}: say crate::…", source.path);
    }
}

#[test]
fn unsafe_and_python_stay_at_home() {
    for source in sources() {
        let path = source.path.as_str();
        let has = |word: &str| {
            let mut words = source.code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            words.any(|w| w == word)
        };
        assert!(path == "bits/words.rs" || !has("unsafe"), "rust/{path} has unsafe code");
        for package in ["pyo3", "numpy"] {
            assert!(source.module() == "python" || !has(package), "rust/{path} imports {package}");
        }
    }
}

#[test]
fn files_are_short() {
    for source in sources() {
        assert!(
            source.lines <= MOST_LINES,
            "rust/{} has {} lines, more than {MOST_LINES}",
            source.path,
            source.lines
        );
    }
}

/// `cargo fmt` holds code to this width, but leaves comments as they are.
#[test]
fn comments_end_in_time() {
    let mut long = Vec::new();
    for folder in ["rust", "tests", "benches", "checker"] {
        for (path, text) in files(&root().join(folder)) {
            for (line, words) in (1..).zip(text.lines()) {
                if words.trim_start().starts_with("//") && words.chars().count() > WIDTH {
                    long.push(format!("{folder}/{path}:{line}"));
                }
            }
        }
    }
    assert!(long.is_empty(), "comments end at {WIDTH} columns: {long:?}");
}

#[test]
fn imports_are_read_as_written() {
    let text = "use crate::a::B;\nuse crate::{b, c::{D, E}, f::G};\n// crate::no\n\
                let x = crate::h::call(\"crate::no \\\" crate::no\");\n#[cfg(test)]\nuse crate::no;";
    let names: Vec<String> = names_after(&code(text), "crate::").into_iter().collect();
    assert_eq!(names, ["a", "b", "c", "f", "h"]);
}
