//! Trees that are found beside a search are trees of the problem, cost what is said of them, and
//! are no better than the best one. More cases: `CERTREE_CASES=20000 cargo test --release --test
//! all good_trees`.

use std::time::Duration;

use crate::common::judge::{ensure, recompute, tree_is_sound};
use crate::common::problems::{ColumnMix, LossKind, Options, ShapeMix};
use crate::common::{Case, Loss, Squares, for_all, for_seeds, large};
use certree::answer::Incumbent;
use certree::finish::grow;
use certree::ids::FeatureId;
use certree::improve::good_tree;
use certree::problem::Problem;
use certree::run::{Limits, Run};
use certree::search::brute;
use certree::tree::Plan;

fn is_good(case: &Case) -> Result<(), String> {
    let problem = case.problem().map_err(|e| e.to_string())?;
    let run = Run::new(Limits { threads: 1, ..Limits::default() }, problem.scale, None);
    let found = good_tree(&problem, &run, Duration::from_secs(20));
    let (plan, cost) = found.ok_or_else(|| "no tree".to_owned())?;
    let tree = grow(&problem, plan).map_err(|e| e.to_string())?;
    tree_is_sound(case, &problem, &tree)?;
    ensure(recompute(&problem, &tree) == cost, || format!("the tree does not cost {cost}"))?;
    let best = brute::solve(&problem).upper;
    ensure(best <= cost, || format!("{cost} is better than the best, {best}"))?;
    // It is also one to go on from.
    let known = Incumbent::of_tree(&problem, tree, f64::NEG_INFINITY).map_err(|e| e.to_string())?;
    ensure(known.upper == cost, || format!("going on begins with {}", known.upper))
}

#[test]
fn they_are_trees_of_the_problem() {
    for loss in [LossKind::Any, LossKind::Rows, LossKind::Squares] {
        for columns in [ColumnMix::Any, ColumnMix::Ordered] {
            let options = Options { loss, columns, ..Options::default() };
            for_seeds(60, &options, is_good);
        }
    }
}

#[test]
fn nothing_limits_but_the_penalty() {
    let options = Options { limits: ShapeMix::Unlimited, ..Options::default() };
    for_seeds(60, &options, is_good);
}

#[test]
fn whole_trees_are_judged_where_columns_cost_something() {
    let options = Options { prices: true, ..Options::default() };
    for_seeds(60, &options, is_good);
}

/// CART in its simplest form: every cut of every column, again for each node.
struct Cart<'a> {
    case: &'a Case,
    /// By point: what squares are taken of.
    numbers: Vec<Vec<f64>>,
    depth: u32,
}

impl Cart<'_> {
    /// The more, the better a leaf of these points; `None` if they are too few.
    fn score(&self, points: &[usize]) -> Option<f64> {
        let least = self.case.shape.min_leaf_rows.max(1);
        let sum = |o: usize| points.iter().map(|&point| self.numbers[point][o]).sum::<f64>();
        let squares: f64 = (0..self.numbers[0].len()).map(|o| sum(o) * sum(o)).sum();
        (points.len() as u64 >= least).then(|| squares / points.len() as f64)
    }

    fn plan(&self, points: &[usize], level: u32) -> Plan {
        let whole = self.score(points).expect("a node has enough points");
        let mut best: (f64, Option<(usize, u32)>) = (0.0, None);
        for (column, codes) in self.case.codes.iter().enumerate() {
            let mut cuts: Vec<u32> = points.iter().map(|&point| codes[point]).collect();
            cuts.sort_unstable();
            cuts.dedup();
            for &cut in &cuts[..cuts.len() - 1] {
                let (left, right) = parted(points, codes, cut);
                let Some(score) = self.score(&left).zip(self.score(&right)) else { continue };
                let gain = score.0 + score.1 - whole;
                if gain > best.0 {
                    best = (gain, Some((column, cut)));
                }
            }
        }
        let Some((column, cut)) = best.1.filter(|_| level < self.depth) else { return Plan::Leaf };
        let (left, right) = parted(points, &self.case.codes[column], cut);
        let (left, right) = (self.plan(&left, level + 1), self.plan(&right, level + 1));
        Plan::split(FeatureId::from(column), cut, left, right)
    }
}

fn parted(points: &[usize], codes: &[u32], cut: u32) -> (Vec<usize>, Vec<usize>) {
    points.iter().partition(|&&point| codes[point] <= cut)
}

/// The first tree that is looked for, in no time at all, is no worse than CART's.
fn begins_with_cart(case: &Case, numbers: Vec<Vec<f64>>) -> Result<(), String> {
    let depth = case.shape.max_depth.expect("its depth is limited");
    let problem: Problem = case.problem().map_err(|e| e.to_string())?;
    let all: Vec<usize> = (0..case.n_points()).collect();
    let plan = Cart { case, numbers, depth }.plan(&all, 0);
    let cart = recompute(&problem, &grow(&problem, plan).map_err(|e| e.to_string())?);
    let run = Run::new(Limits { threads: 1, ..Limits::default() }, problem.scale, None);
    let (_, cost) =
        good_tree(&problem, &run, Duration::ZERO).ok_or_else(|| "no tree".to_owned())?;
    ensure(cost <= cart, || format!("the first tree costs {cost}, that of CART {cart}"))
}

#[test]
fn the_first_one_is_no_worse_than_that_of_cart() {
    // Few cuts are counted by rank, many are walked along in order.
    for_all(0..12, |seed| {
        let (cuts, n_classes) = ([5, 90, 400][seed as usize % 3], 2 + seed as usize % 4);
        let mut case = large::noise(250, 3, cuts, n_classes, seed);
        case.shape.max_depth = Some(2 + seed as u32 % 4);
        case.shape.min_leaf_rows = [1, 1, 8][seed as usize % 3];
        let Loss::Classes(input) = &case.loss else { unreachable!("noise has classes") };
        let numbers: Vec<Vec<f64>> =
            input.weights.chunks_exact(n_classes).map(|weights| weights.to_vec()).collect();
        begins_with_cart(&case, numbers.clone())?;
        let targets: Vec<f64> =
            numbers.iter().enumerate().map(|(i, w)| w[0] + (i % 17) as f64).collect();
        let numbers = targets.iter().map(|&target| vec![target]).collect();
        let weights = vec![1; targets.len()];
        let (n_outputs, per_point, leaf_penalty) = (1, 1, 0.0);
        case.loss = Loss::Squares(Squares { n_outputs, per_point, targets, weights, leaf_penalty });
        begins_with_cart(&case, numbers)
    });
}
