//! No file of the library imports another one that imports it back, not even through others: each
//! can be read after the files that it imports.

use std::collections::{BTreeMap, BTreeSet};

use crate::layering::{Source, sources};

/// The file of each module, by the module's path: `["task", "rows"]`.
type Files = BTreeMap<Vec<String>, String>;

fn module_of(file: &str) -> Vec<String> {
    let mut path: Vec<String> =
        file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|name| name == "mod" || name == "lib") {
        path.pop();
    }
    path
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// All paths of names that begin at the start of the text, `a::b` and `a::{b, c}`, and its length.
fn paths_at(text: &str) -> (Vec<Vec<String>>, usize) {
    let end = text.find(|letter| !is_of_name(letter)).unwrap_or(text.len());
    let name = text[..end].to_owned();
    let Some(rest) = text[end..].strip_prefix("::") else { return (vec![vec![name]], end) };
    let after = end + 2;
    let (tails, length) = match rest.chars().next() {
        Some('{') => paths_of_group(rest),
        Some(letter) if is_of_name(letter) => paths_at(rest),
        Some('*') => (vec![vec!["*".to_owned()]], 1),
        _ => (vec![Vec::new()], 0),
    };
    let joined = tails.into_iter().map(|tail| [vec![name.clone()], tail].concat());
    (joined.collect(), after + length)
}

/// The paths of a group in braces.
fn paths_of_group(text: &str) -> (Vec<Vec<String>>, usize) {
    let (mut paths, mut at) = (Vec::new(), 1);
    while let Some(letter) = text[at..].chars().next() {
        if letter == '}' {
            return (paths, at + 1);
        }
        if is_of_name(letter) {
            let (found, length) = paths_at(&text[at..]);
            paths.extend(found);
            at += length;
        } else {
            at += letter.len_utf8();
        }
    }
    (paths, at)
}

/// All paths of a file, each with the number of modules written out in the file that it stands in.
fn paths(code: &str) -> Vec<(Vec<String>, usize)> {
    let (mut found, mut at) = (Vec::new(), 0);
    let (mut braces, mut modules) = (0, Vec::new());
    let mut opens_module = 0;
    while let Some(letter) = code[at..].chars().next() {
        if is_of_name(letter) {
            let (paths, length) = paths_at(&code[at..]);
            at += length;
            let word = paths[0].join("::");
            if word == "pub" && code[at..].starts_with('(') {
                at += code[at..].find(')').unwrap_or(0);
            }
            // To declare a module is not to import it.
            if opens_module != 2 {
                found.extend(paths.into_iter().map(|path| (path, modules.len())));
            }
            opens_module = if word == "mod" { 2 } else { i32::max(0, opens_module - 1) };
            continue;
        }
        match letter {
            '{' => {
                if opens_module == 1 {
                    modules.push(braces);
                }
                braces += 1;
            }
            '}' => {
                braces -= 1;
                modules.pop_if(|opened| *opened == braces);
            }
            _ => {}
        }
        if !letter.is_whitespace() {
            opens_module = 0;
        }
        at += letter.len_utf8();
    }
    found
}

/// The files that a file imports.
fn imports(source: &Source, files: &Files) -> BTreeSet<String> {
    let own = module_of(&source.path);
    let target = |(path, inner): (Vec<String>, usize)| {
        let climbs = path.iter().take_while(|name| *name == "super").count();
        let (mut from, rest) = match path[0].as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (own.clone(), &path[1..]),
            "super" => {
                let up = climbs.saturating_sub(inner);
                (own[..own.len() - up].to_vec(), &path[climbs..])
            }
            first => {
                let child = [own.clone(), vec![first.to_owned()]].concat();
                if inner > 0 || path.len() == 1 || !files.contains_key(&child) {
                    return None;
                }
                (own.clone(), &path[..])
            }
        };
        from.extend(rest.iter().cloned());
        (1..=from.len()).rev().find_map(|length| files.get(&from[..length])).cloned()
    };
    paths(&source.code).into_iter().filter_map(target).filter(|file| *file != source.path).collect()
}

/// What is left of a graph once all that is in no cycle, or between two, is taken off.
fn cycles(mut graph: BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    loop {
        let before = graph.len();
        let imported: BTreeSet<String> = graph.values().flatten().cloned().collect();
        graph.retain(|file, imports| !imports.is_empty() && imported.contains(file));
        let left: BTreeSet<String> = graph.keys().cloned().collect();
        graph.values_mut().for_each(|imports| imports.retain(|file| left.contains(file)));
        if graph.len() == before {
            return graph;
        }
    }
}

#[test]
fn no_file_imports_itself_through_others() {
    let sources = sources();
    let files: Files =
        sources.iter().map(|source| (module_of(&source.path), source.path.clone())).collect();
    let of_library = sources.iter().filter(|source| source.path != "lib.rs");
    let graph = of_library.map(|source| (source.path.clone(), imports(source, &files))).collect();
    let left = cycles(graph);
    assert!(left.is_empty(), "these files import each other: {left:#?}");
}

#[test]
fn paths_are_read_as_written() {
    let code = "use crate::a::{B, c::{D, E}};\nmod inner { use super::f; }\nfn g() { super::h() }";
    let found: Vec<(String, usize)> =
        paths(code).into_iter().map(|(path, inner)| (path.join("::"), inner)).collect();
    for (path, inner) in
        [("crate::a::B", 0), ("crate::a::c::D", 0), ("crate::a::c::E", 0), ("super::f", 1)]
    {
        assert!(found.contains(&(path.to_owned(), inner)), "{path} is not in {found:?}");
    }
    assert!(found.contains(&("super::h".to_owned(), 0)), "{found:?}");
}

#[test]
fn cycles_are_found() {
    let edges = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "a")];
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in edges {
        graph.entry(from.to_owned()).or_default().insert(to.to_owned());
        graph.entry(to.to_owned()).or_default();
    }
    let left: Vec<String> = cycles(graph).into_keys().collect();
    assert_eq!(left, ["b", "c"]);
}
