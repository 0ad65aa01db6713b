//! Greedy trees: the split that looks best now, and again on both sides, as CART does it.
//!
//! What looks best is told by squares: of weights by class (the Gini impurity, where errors cost
//! the same), of losses by label, or of the numbers that means are taken of. Where a task knows
//! none of these, by what leaves cost.

use std::collections::BinaryHeap;

use super::fit::{Room, parted};
use super::line::{Asked, ByValue, Line};
use super::sorted::{Members, Sorter};
use crate::data::Order;
use crate::ids::FeatureId;
use crate::problem::Problem;
use crate::task::Structure;
use crate::tree::Plan;

/// No tree is grown beyond this, because what it gains there is little.
const DEEPEST: u32 = 64;
const MOST_LEAVES: u32 = 1 << 14;
/// Where leaves cost something.
const MOST_THAT_PAY: u32 = 1024;

/// Points are walked along in the order of a feature where each has so many numbers.
const WIDTHS: std::ops::RangeInclusive<usize> = 2..=8;

/// Sums of whole numbers below this are exact in floats.
const EXACT: f64 = (1u64 << 53) as f64;

/// How good splits look.
pub struct Scorer<'a> {
    of: &'a Problem,
    /// Numbers of a point: its weight first, and then those whose squares count. None where they
    /// are too large for floats: then no split looks good.
    width: usize,
    numbers: Vec<f64>,
    /// Whether the numbers are statistics, of which leaves are costed.
    costs: bool,
}

impl<'a> Scorer<'a> {
    pub fn new(of: &'a Problem) -> Scorer<'a> {
        let n = of.points.len();
        let mut numbers = Vec::new();
        let (width, costs) = match of.task.structure() {
            Structure::Classes(classes) => {
                let worst: Vec<f64> =
                    (0..classes.n_classes()).map(|class| classes.worst_of(class) as f64).collect();
                for point in 0..n {
                    let from = numbers.len();
                    numbers.push(0.0);
                    let own = classes.weights(point).iter().zip(&worst);
                    numbers.extend(own.map(|(&weight, worst)| weight as f64 * worst));
                    numbers[from] = numbers[from + 1..].iter().sum();
                }
                (classes.n_classes() + 1, false)
            }
            Structure::Labels(labelled) => {
                for point in 0..n {
                    numbers.push(of.points.rows(point) as f64);
                    let labels = 0..labelled.n_labels() as u32;
                    numbers.extend(labels.map(|label| labelled.loss(point, label) as f64));
                }
                (labelled.n_labels() + 1, false)
            }
            Structure::Squares(squares) => {
                let outputs = 0..squares.n_outputs();
                let roots: Vec<f64> = outputs.map(|o| squares.factor(o).sqrt()).collect();
                for point in 0..n {
                    let stats = squares.stats(point);
                    numbers.push(stats[0] as f64);
                    let own = stats[1..].iter().zip(&roots);
                    numbers.extend(own.map(|(&sum, root)| sum as f64 * root));
                }
                (squares.n_outputs() + 1, false)
            }
            Structure::Sums | Structure::Counts => {
                for point in 0..n {
                    numbers.extend(of.task.stats(point).iter().map(|&s| s as f64));
                }
                (of.task.width(), true)
            }
        };
        // A task must not be asked about sums that no points have.
        let size: f64 = numbers.iter().map(|number| number.abs()).sum();
        if costs && size >= EXACT {
            return Scorer { of, width: 0, numbers: Vec::new(), costs };
        }
        Scorer { of, width, numbers, costs }
    }

    /// The more, the better a leaf with these sums.
    #[inline(always)]
    fn score(&self, sums: &[f64]) -> f64 {
        if self.costs {
            let stats: Vec<i64> = sums.iter().map(|&sum| sum as i64).collect();
            return -(self.of.task.leaf(&stats).cost as f64);
        }
        let squares: f64 = sums[1..].iter().map(|number| number * number).sum();
        if sums[0] > 0.0 { squares / sums[0] } else { 0.0 }
    }

    /// The split of these points that looks best, of those that there was time to look at, and by
    /// how much it does.
    fn best(
        &self,
        (members, sorter): (&Members, &Sorter),
        goes_on: &dyn Fn() -> bool,
    ) -> Option<(f64, FeatureId, u32)> {
        let mut best: Option<(f64, FeatureId, u32)> = None;
        self.each_best_of(members, Some(sorter), goes_on, |gain, feature, cut| {
            if best.is_none_or(|best| gain > best.0) {
                best = Some((gain, feature, cut));
            }
        });
        best
    }

    /// For each feature that there was time to look at: its split that looks best, and by how much.
    pub fn each_best(
        &self,
        points: Vec<u32>,
        goes_on: &dyn Fn() -> bool,
        found: impl FnMut(f64, FeatureId, u32),
    ) {
        let members = Members::unsorted(points);
        self.each_best_of(&members, None, goes_on, found);
    }

    /// As above, of points that a sorter has sorted, if there is one.
    fn each_best_of(
        &self,
        members: &Members,
        sorter: Option<&Sorter>,
        goes_on: &dyn Fn() -> bool,
        mut found: impl FnMut(f64, FeatureId, u32),
    ) {
        if self.width == 0 {
            return;
        }
        let points = &members.points;
        let mut numbers = Vec::with_capacity(points.len() * self.width);
        for &point in points {
            numbers.extend_from_slice(&self.numbers[point as usize * self.width..][..self.width]);
        }
        let mut all = vec![0.0; self.width];
        for own in numbers.chunks_exact(self.width) {
            all.iter_mut().zip(own).for_each(|(sum, number)| *sum += number);
        }
        let rows = points.iter().map(|&point| self.of.points.rows(point as usize)).sum::<u64>();
        let whole = self.score(&all);
        let mut asked = Asked::default();
        let (mut line, mut values) = (Line::default(), ByValue::default());
        let mut ranks = Vec::new();
        for (index, feature) in self.of.features.iter().enumerate() {
            if !asked.goes_on(points.len(), goes_on) {
                break;
            }
            let mut best: Option<(f64, u32)> = None;
            let is_best = |score, cut| {
                if best.is_none_or(|best| score > best.0) {
                    best = Some((score, cut));
                }
            };
            if let Some(long) = sorter.and_then(|sorter| sorter.long(index)) {
                let order = members.order(long);
                feature.ranks(&self.of.points, order, &mut ranks);
                self.walk_in_order((order, &ranks), (&all, rows), is_best);
            } else {
                let numbers = (self.width, &numbers[..]);
                match feature.order {
                    Order::In(right) => {
                        values.fill(&mut line, self.of, (feature, right), points, numbers);
                    }
                    _ => line.fill(self.of, feature, points, numbers),
                }
                self.walk(&line, (&all, rows), is_best);
            }
            if let Some((score, cut)) = best {
                found(score - whole, FeatureId::from(index), cut);
            }
        }
    }

    /// Every cut between two ranks that has enough rows on both sides, of points in the order of
    /// their ranks.
    fn walk_in_order(
        &self,
        order: (&[u32], &[u32]),
        (all, rows): (&[f64], u64),
        found: impl FnMut(f64, u32),
    ) {
        // The width is known inside, so that no step has a loop.
        match self.width {
            2 => self.walk_of::<2>(order, (all, rows), found),
            3 => self.walk_of::<3>(order, (all, rows), found),
            4 => self.walk_of::<4>(order, (all, rows), found),
            5 => self.walk_of::<5>(order, (all, rows), found),
            6 => self.walk_of::<6>(order, (all, rows), found),
            7 => self.walk_of::<7>(order, (all, rows), found),
            8 => self.walk_of::<8>(order, (all, rows), found),
            width => unreachable!("nothing is sorted for {width} numbers of a point"),
        }
    }

    fn walk_of<const WIDTH: usize>(
        &self,
        (order, ranks): (&[u32], &[u32]),
        (all, rows): (&[f64], u64),
        mut found: impl FnMut(f64, u32),
    ) {
        let least = self.of.shape.min_leaf_rows.max(1);
        let (numbers, _) = self.numbers.as_chunks::<WIDTH>();
        let rows_of = self.of.points.all_rows();
        let (mut left, mut right) = ([0.0; WIDTH], [0.0; WIDTH]);
        let mut lefts = 0;
        let behind = ranks.iter().skip(1).map(|&rank| Some(rank)).chain([None]);
        for ((&point, &rank), next) in order.iter().zip(ranks).zip(behind) {
            let own = &numbers[point as usize];
            (0..WIDTH).for_each(|s| left[s] += own[s]);
            lefts += rows_of[point as usize];
            if next == Some(rank) || lefts < least {
                continue;
            }
            if rows - lefts < least {
                break;
            }
            (0..WIDTH).for_each(|s| right[s] = all[s] - left[s]);
            found(self.score(&left) + self.score(&right), rank);
        }
    }

    /// Every cut between two ranks that has enough rows on both sides.
    fn walk(&self, line: &Line, (all, rows): (&[f64], u64), mut found: impl FnMut(f64, u32)) {
        let least = self.of.shape.min_leaf_rows.max(1);
        let (mut left, mut right) = (vec![0.0; self.width], vec![0.0; self.width]);
        let mut lefts = 0;
        for (at, &(rank, own)) in line.ranks.iter().enumerate() {
            lefts += own;
            let sums = &line.sums[at * self.width..][..self.width];
            left.iter_mut().zip(sums).for_each(|(left, sum)| *left += sum);
            if rows - lefts < least {
                break;
            }
            if own == 0 || lefts < least {
                continue;
            }
            for (s, right) in right.iter_mut().enumerate() {
                *right = all[s] - left[s];
            }
            found(self.score(&left) + self.score(&right), rank);
        }
    }
}

/// A leaf that waits to be split.
struct Waiting {
    gain: f64,
    node: usize,
    depth: u32,
    split: (FeatureId, u32),
    members: Members,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.gain.total_cmp(&other.gain).then(other.node.cmp(&self.node))
    }
}

type Split = (FeatureId, u32, [usize; 2]);

/// A greedy tree, which may have more leaves than the limit, so that the best of them can be kept.
/// The leaf that gains most is split next, until there are enough or `goes_on` says no.
pub fn grow(scorer: &Scorer, points: Vec<u32>, room: Room, goes_on: &dyn Fn() -> bool) -> Plan {
    let most = if scorer.of.has_penalty() { MOST_THAT_PAY } else { MOST_LEAVES };
    let most = room.leaves.saturating_mul(3).min(most);
    let deepest = room.depth.min(DEEPEST);
    let mut sorter = Sorter::new(scorer.of, &points, deepest > 1 && WIDTHS.contains(&scorer.width));
    let mut nodes: Vec<Option<Split>> = vec![None];
    let mut waiting = BinaryHeap::new();
    let wait = |node: usize, depth: u32, members: Members, sorter: &Sorter| {
        if depth >= deepest || members.points.len() < 2 {
            return None;
        }
        let best = scorer.best((&members, sorter), goes_on).filter(|best| best.0 > 0.0);
        let (gain, feature, cut) = best?;
        Some(Waiting { gain, node, depth, split: (feature, cut), members })
    };
    let all = sorter.sorted(scorer.of, points);
    waiting.extend(wait(0, 0, all, &sorter));
    let mut leaves = 1;
    while leaves < most
        && goes_on()
        && let Some(Waiting { node, depth, split, members, .. }) = waiting.pop()
    {
        let children = [nodes.len(), nodes.len() + 1];
        nodes[node] = Some((split.0, split.1, children));
        nodes.extend([None, None]);
        leaves += 1;
        if depth + 1 >= deepest {
            continue;
        }
        let sides = parted(scorer.of, split, &members.points);
        let sides = match sorter.sorts() {
            true => sorter.part(&members, sides),
            false => sides.map(Members::unsorted),
        };
        for (child, members) in children.into_iter().zip(sides) {
            waiting.extend(wait(child, depth + 1, members, &sorter));
        }
    }
    plan(&nodes, 0)
}

fn plan(nodes: &[Option<Split>], at: usize) -> Plan {
    match nodes[at] {
        None => Plan::Leaf,
        Some((feature, cut, [left, right])) => {
            Plan::split(feature, cut, plan(nodes, left), plan(nodes, right))
        }
    }
}
