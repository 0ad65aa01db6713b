//! What paths may ask, stated apart from the contexts that are tested: from the columns of a path,
//! each time that it asks for one.

use std::sync::Arc;

use certree::check;
use certree::context::{After, Context, FirstColumn, MostColumns, Product, Together};
use certree::ids::ColumnId;
use certree::posed;
use certree::tree::Tree;

use super::Random;

#[derive(Debug, Clone, PartialEq)]
pub enum PathRule {
    /// At most so many different columns on a path.
    Most(u32),
    /// The first of each pair only below the second.
    After(Vec<(usize, usize)>),
    /// Columns that may meet.
    Together(Vec<Vec<usize>>),
    /// The column of the first split.
    First(usize),
}

/// Which rules to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathMix {
    None,
    Most,
    After,
    Together,
    First,
    /// One to three of any kind.
    Any,
}

impl PathMix {
    /// Each kind of rule by itself, and any of them together.
    pub const ALL: [PathMix; 5] =
        [PathMix::Most, PathMix::After, PathMix::Together, PathMix::First, PathMix::Any];
}

impl PathRule {
    /// Whether a path that has asked for these columns, again and again where it did, may ask for
    /// another.
    pub fn allows(&self, path: &[usize], column: usize) -> bool {
        match self {
            PathRule::Most(most) => {
                let mut all = path.to_vec();
                all.push(column);
                all.sort_unstable();
                all.dedup();
                all.len() <= *most as usize
            }
            PathRule::After(pairs) => {
                pairs.iter().all(|&(below, above)| below != column || path.contains(&above))
            }
            PathRule::Together(sets) => sets
                .iter()
                .any(|set| path.iter().chain([&column]).all(|column| set.contains(column))),
            PathRule::First(first) => path.first().unwrap_or(&column) == first,
        }
    }

    pub fn context(&self, n_columns: usize) -> Arc<dyn Context> {
        let id = |column: usize| ColumnId::from(column);
        match self {
            PathRule::Most(most) => Arc::new(MostColumns::new(*most, n_columns)),
            PathRule::After(pairs) => {
                let pairs: Vec<_> = pairs.iter().map(|&(b, a)| (id(b), id(a))).collect();
                Arc::new(After::new(&pairs, n_columns))
            }
            PathRule::Together(sets) => {
                let sets: Vec<Vec<ColumnId>> =
                    sets.iter().map(|set| set.iter().map(|&c| id(c)).collect()).collect();
                Arc::new(Together::new(&sets, n_columns))
            }
            PathRule::First(first) => Arc::new(FirstColumn::new(id(*first))),
        }
    }

    /// This rule where there is one column less.
    pub fn without(&self, gone: usize) -> PathRule {
        let number = |column: usize| column - usize::from(column > gone);
        match self {
            PathRule::Most(most) => PathRule::Most(*most),
            PathRule::After(pairs) => {
                let left = pairs.iter().filter(|&&(b, a)| b != gone && a != gone);
                PathRule::After(left.map(|&(b, a)| (number(b), number(a))).collect())
            }
            PathRule::Together(sets) => {
                let left = |set: &Vec<usize>| {
                    set.iter().filter(|&&c| c != gone).map(|&c| number(c)).collect()
                };
                PathRule::Together(sets.iter().map(left).collect())
            }
            PathRule::First(first) => {
                PathRule::First(if *first == gone { 0 } else { number(*first) })
            }
        }
    }
}

/// All rules as one context.
pub fn product(rules: &[PathRule], n_columns: usize) -> Product {
    Product::new(rules.iter().map(|rule| rule.context(n_columns)).collect(), n_columns)
}

/// Rules for so many columns; none if there are no columns.
pub fn random_rules(rng: &mut Random, mix: PathMix, n: usize) -> Vec<PathRule> {
    if n == 0 || mix == PathMix::None {
        return Vec::new();
    }
    let count = if mix == PathMix::Any { rng.range(1, 3) } else { 1 };
    (0..count).map(|_| random_rule(rng, mix, n)).collect()
}

fn random_rule(rng: &mut Random, mix: PathMix, n: usize) -> PathRule {
    let mix = match mix {
        PathMix::Any => {
            rng.pick(&[PathMix::Most, PathMix::After, PathMix::Together, PathMix::First])
        }
        mix => mix,
    };
    match mix {
        PathMix::Most => PathRule::Most(rng.pick(&[0, 1, 1, 2, 2, 2, 3, 4])),
        PathMix::After => {
            // In some order of the columns each needs only what comes before it.
            let mut order: Vec<usize> = (0..n).collect();
            (1..n).for_each(|at| order.swap(at, rng.below(at + 1)));
            let n_pairs = rng.range(0, n);
            let mut pairs = Vec::new();
            for _ in 0..n_pairs {
                let (one, other) = (rng.below(n), rng.below(n));
                if one != other {
                    pairs.push((order[one.max(other)], order[one.min(other)]));
                }
            }
            PathRule::After(pairs)
        }
        PathMix::Together => {
            let share = rng.pick(&[0.3, 0.5, 0.7, 1.0]);
            let n_sets = rng.range(0, 4).max(rng.range(0, 2));
            let set = |rng: &mut Random| (0..n).filter(|_| rng.chance(share)).collect();
            PathRule::Together((0..n_sets).map(|_| set(rng)).collect())
        }
        _ => PathRule::First(rng.below(n)),
    }
}

/// Whether every path of a tree keeps to the rules.
pub fn keeps_rules(rules: &[PathRule], tree: &Tree) -> bool {
    let mut open = vec![(0, Vec::new())];
    while let Some((at, path)) = open.pop() {
        let node: usize = at;
        let Some(split) = &tree.nodes[node].split else { continue };
        let column = split.column.index();
        if !rules.iter().all(|rule| rule.allows(&path, column)) {
            return false;
        }
        for child in [split.left, split.right] {
            open.push((child.index(), [&path[..], &[column]].concat()));
        }
    }
    true
}

/// Rules as users write them, for so many columns; often they contradict each other.
pub fn random_path_rules(rng: &mut Random, n: usize) -> Vec<posed::PathRule> {
    let column = |rng: &mut Random| ColumnId::from(rng.below(n));
    let some = |rng: &mut Random, share: f64| -> Vec<ColumnId> {
        let mut found: Vec<ColumnId> =
            (0..n).filter(|_| rng.chance(share)).map(ColumnId::from).collect();
        if found.is_empty() {
            found.push(column(rng));
        }
        found
    };
    let rule = |rng: &mut Random| match rng.below(4) {
        0 => posed::PathRule::MostColumns(rng.range(1, 4) as u32),
        1 => posed::PathRule::After { column: column(rng), above: some(rng, 0.2) },
        2 => {
            let groups = rng.range(2, 3);
            posed::PathRule::Apart((0..groups).map(|_| some(rng, 0.3)).collect())
        }
        _ => posed::PathRule::FirstColumn(column(rng)),
    };
    let count = rng.pick(&[1, 1, 2, 2, 3]);
    (0..count).map(|_| rule(rng)).collect()
}

/// Whether a tree keeps to the rules of its problem, by the statement of their context.
pub fn keeps_path_rules(input: &posed::ProblemInput, tree: &Tree) -> bool {
    match posed::path_rules::context(&input.path_rules, &input.columns) {
        Ok(Some(context)) => check::allowed(tree, context.as_ref()).is_ok(),
        Ok(None) => true,
        Err(_) => false,
    }
}
