//! Sets of a problem's points as bits, and what bounds say of them, summed one point at a time.

use certree::cost::Cost;
use certree::problem::Problem;
use certree::search::brute::Brute;
use certree::view::Cut;

use super::Random;

pub fn all(problem: &Problem) -> u64 {
    (1 << problem.points.len()) - 1
}

/// Any points, but at least one.
pub fn random(rng: &mut Random, problem: &Problem) -> u64 {
    match rng.next() & all(problem) {
        0 => all(problem),
        set => set,
    }
}

pub fn points(set: u64) -> impl Iterator<Item = usize> + Clone {
    (0..64).filter(move |p| set >> p & 1 == 1)
}

/// Cost as one leaf, without its penalty.
pub fn leaf(problem: &Problem, set: u64) -> Cost {
    problem.task.leaf(&problem.stats(points(set))).cost
}

pub fn least(problem: &Problem, set: u64) -> Cost {
    points(set).map(|p| problem.task.least(p)).sum()
}

/// The most that any labels cost, by class where weights have classes.
pub fn worst(problem: &Problem, set: u64) -> Cost {
    let of = |p: usize| match problem.task.structure().classes() {
        Some(classes) => {
            (classes.weights(p).iter().enumerate()).map(|(c, w)| w * classes.worst_of(c)).sum()
        }
        None => problem.task.worst(p).expect("known"),
    };
    points(set).map(of).sum()
}

pub fn rows(problem: &Problem, set: u64) -> u64 {
    points(set).map(|p| problem.points.rows(p)).sum()
}

/// The two sides of a question: no, yes.
pub fn sides(problem: &Problem, set: u64, question: Cut) -> [u64; 2] {
    let feature = problem.features.get(question.feature.index());
    let left = |&p: &usize| feature.goes_left(&problem.points, p, question.cut);
    let left = points(set).filter(left).fold(0, |set, p| set | 1 << p);
    [left, set & !left]
}

/// A split of a set that the problem allows, if there is one among a few tries.
pub fn random_split(rng: &mut Random, problem: &Problem, set: u64) -> Option<[u64; 2]> {
    for _ in 0..4 {
        if problem.features.is_empty() {
            return None;
        }
        let feature = rng.below(problem.features.len());
        let cut = rng.below(problem.features.get(feature).cuts as usize) as u32;
        let sides = sides(problem, set, Cut { feature: feature.into(), cut });
        let enough =
            |&side: &u64| side != 0 && rows(problem, side) >= problem.shape.min_leaf_rows.max(1);
        if sides.iter().all(enough) {
            return Some(sides);
        }
    }
    None
}

/// Depth and leaves that a subtree may still use.
pub type Budget = (u32, Option<u32>);

pub fn random_budget(rng: &mut Random) -> Budget {
    let leaves = rng.chance(0.4).then(|| rng.range(1, 6) as u32);
    (rng.below(5) as u32, leaves)
}

pub fn optimum(oracle: &mut Brute, set: u64, (depth, leaves): Budget) -> Cost {
    oracle.best(set, depth, leaves).0
}
