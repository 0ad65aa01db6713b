//! Rules for paths as they come from users: contradictions against the list of all paths, the
//! context against what the rules say, and one error for each rule that makes no sense.
//!
//! More cases: `CERTREE_CASES=20000 cargo test --release --test all path_rules`.

use std::collections::BTreeSet;

use crate::common::judge::ensure;
use crate::common::paths::random_path_rules;
use crate::common::{Random, cases, for_all};
use certree::data::{Column, ColumnKind};
use certree::ids::ColumnId;
use certree::posed::PathRule;
use certree::posed::path_rules::context;

fn columns(n: usize) -> Vec<Column> {
    let column = |c| Column { name: format!("c{c}"), kind: ColumnKind::Boolean, missing: false };
    (0..n).map(column).collect()
}

/// Whether a path may ask for these columns, in this order, by the words of the rule alone.
fn keeps(rule: &PathRule, path: &[ColumnId]) -> bool {
    let different: BTreeSet<_> = path.iter().collect();
    match rule {
        PathRule::MostColumns(most) => different.len() <= *most as usize,
        PathRule::After { column, above } => match path.iter().position(|c| c == column) {
            Some(at) => above.iter().all(|above| path[..at].contains(above)),
            None => true,
        },
        PathRule::Apart(groups) => {
            let is_in = |column: &ColumnId| groups.iter().any(|group| group.contains(column));
            let grouped: Vec<_> = different.into_iter().filter(|&column| is_in(column)).collect();
            let one = groups.iter().any(|group| grouped.iter().all(|c| group.contains(c)));
            grouped.is_empty() || one
        }
        PathRule::FirstColumn(first) => path.first().is_none_or(|column| column == first),
    }
}

/// All columns that some path may ask for that keeps to the rules from its first column on.
fn askable(rules: &[PathRule], n: usize, path: &mut Vec<ColumnId>, out: &mut BTreeSet<ColumnId>) {
    for column in (0..n).map(ColumnId::from) {
        if path.contains(&column) {
            continue;
        }
        path.push(column);
        if rules.iter().all(|rule| keeps(rule, path)) {
            out.insert(column);
            askable(rules, n, path, out);
        }
        path.pop();
    }
}

fn named(rule: &PathRule) -> Vec<ColumnId> {
    match rule {
        PathRule::MostColumns(_) => vec![],
        PathRule::After { column, above } => [&[*column][..], above].concat(),
        PathRule::Apart(groups) => groups.concat(),
        PathRule::FirstColumn(first) => vec![*first],
    }
}

#[test]
fn contradictions_are_found_and_nothing_else_is() {
    let (mut refused, mut taken) = (0, 0);
    let n_cases = cases(4_000);
    for seed in 0..n_cases {
        let rng = &mut Random::new(seed);
        let n = rng.range(1, 5);
        let rules = random_path_rules(rng, n);
        let mut found = BTreeSet::new();
        askable(&rules, n, &mut Vec::new(), &mut found);
        let never = rules.iter().flat_map(named).find(|column| !found.contains(column));
        match (context(&rules, &columns(n)), never) {
            (Ok(_), None) => taken += 1,
            (Err(error), Some(_)) => {
                refused += 1;
                let text = error.to_string();
                assert!(text.contains("contradict each other: 'c"), "{text}");
                assert!(text.contains("can never be asked, because"), "{text}");
            }
            (Ok(_), Some(column)) => panic!("{seed}: {rules:?} never ask for {column:?}"),
            (Err(error), None) => panic!("{seed}: {rules:?}: {error}"),
        }
    }
    assert!(refused > n_cases / 20 && taken > n_cases / 20, "{refused} {taken}");
}

#[test]
fn contexts_say_what_rules_say() {
    for_all(0..cases(4_000), |seed| {
        let rng = &mut Random::new(seed);
        let n = rng.range(1, 6);
        let rules = random_path_rules(rng, n);
        let Ok(Some(context)) = context(&rules, &columns(n)) else { return Ok(()) };
        let mut path: Vec<ColumnId> = Vec::new();
        for _ in 0..2 * n {
            let column = ColumnId::from(rng.below(n));
            let mut longer = path.clone();
            if !longer.contains(&column) {
                longer.push(column);
            }
            let allowed = rules.iter().all(|rule| keeps(rule, &longer));
            let told = context.cost_after(&path, column).is_some();
            ensure(allowed == told, || format!("{rules:?} after {path:?}: {column:?} is {told}"))?;
            if allowed {
                path = longer;
            }
        }
        Ok(())
    });
}

#[test]
fn rules_that_make_no_sense_are_told_so() {
    let [a, b, c] = [0, 1, 2].map(ColumnId);
    let after = |column, above: &[ColumnId]| PathRule::After { column, above: above.to_vec() };
    let apart =
        |groups: &[&[ColumnId]]| PathRule::Apart(groups.iter().map(|g| g.to_vec()).collect());
    let says = |rules: &[PathRule], text: &str| {
        let error = context(rules, &columns(3)).expect_err(text).to_string();
        assert!(error.contains(text), "{error}");
        assert!(error.starts_with("path_rules "), "{error}");
    };
    assert!(context(&[], &columns(3)).is_ok_and(|none| none.is_none()));
    says(&[PathRule::MostColumns(0)], "allow 0 columns on a path");
    says(&[after(a, &[])], "let 'c0' be asked only after other columns, but name none");
    says(&[apart(&[&[a], &[]])], "one of them is empty");
    says(&[apart(&[])], "fewer than two groups");
    says(&[apart(&[&[a, b]])], "fewer than two groups");
    says(&[PathRule::FirstColumn(ColumnId(3))], "name column 3, but there are 3 columns");
    says(&[after(a, &[a])], "'c0' may be asked only after itself");
    let circle = [after(a, &[b]), after(b, &[c]), after(c, &[a])];
    says(&circle, "may be asked only after itself, through the columns that it needs");
    let first = [PathRule::FirstColumn(a), PathRule::FirstColumn(b)];
    says(&first, "the first split of a tree cannot be on 'c0' and on 'c1'");
    let needy = [PathRule::FirstColumn(a), after(a, &[b])];
    says(&needy, "the first split is on 'c0', which may be asked only after 'c1'");
    let parted = [after(a, &[b]), apart(&[&[a], &[b]])];
    says(&parted, "its path has to ask for 'c0', 'c1', which are of groups that are kept apart");
    let many = [after(a, &[b, c]), PathRule::MostColumns(2)];
    says(&many, "which are 3 columns, and 2 is the most allowed");
}

#[test]
fn rules_are_printed_in_words() {
    let mut columns = columns(3);
    columns[0].name = "it's\n".into();
    let [a, b, c] = [0, 1, 2].map(ColumnId);
    for (rule, words) in [
        (PathRule::MostColumns(1), "each path asks for at most 1 column"),
        (PathRule::MostColumns(3), "each path asks for at most 3 different columns"),
        (
            PathRule::After { column: a, above: vec![b, c] },
            r"'it\'s\n' is asked only below splits on 'c1' and 'c2'",
        ),
        (
            PathRule::Apart(vec![vec![a, b], vec![c]]),
            r"no path asks for columns of several of the groups ['it\'s\n', 'c1'], ['c2']",
        ),
        (PathRule::FirstColumn(b), "the first split is on 'c1'"),
    ] {
        assert_eq!(rule.words(&columns), words);
    }
}
