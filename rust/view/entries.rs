//! The entries of a problem: some of a point's weight in one class, by segments of equal ones.

use hashbrown::HashMap;

use super::bit_view::Segment;
use crate::cost::Cost;
use crate::data::Points;
use crate::task::{Structure, Task};

/// The segments, and the points of each.
pub(super) struct Entries {
    pub segments: Vec<Segment>,
    pub points: Vec<Vec<u32>>,
    /// What every tree pays beside what its leaves pay for entries.
    pub unavoidable_cost: Cost,
}

/// What costs the same under every label is left out, unless its rows count: no split is better or
/// worse for it.
pub(super) fn segment(points: &Points, task: &dyn Task, count_rows: bool) -> Entries {
    let mut map: HashMap<Segment, Vec<u32>> = HashMap::new();
    if let Structure::Counts = task.structure() {
        return counts(points, task, count_rows);
    }
    let Structure::Classes(classes) = task.structure() else {
        let segment = Segment { class: 0, weight: 0, least: 0, worst: 0, rows: 0 };
        let sums = matches!(task.structure(), Structure::Sums);
        let worst = |p: u32| task.worst(p as usize).unwrap_or(Cost::MAX);
        let matters = |p: &u32| sums || count_rows || worst(*p) > 0;
        let points = vec![(0..points.len() as u32).filter(matters).collect()];
        return Entries { segments: vec![segment], points, unavoidable_cost: 0 };
    };
    // Where weights are rows, one entry counts as both.
    let weights_are_rows =
        (0..points.len()).all(|p| classes.weights(p).iter().sum::<i64>() as u64 == points.rows(p));
    let worst: Vec<Cost> = (0..classes.n_classes()).map(|class| classes.worst_of(class)).collect();
    // Where all errors cost the same, weight that a point has in every class is an error in all of
    // them but one, whatever its label.
    let unit = classes.uniform().filter(|_| !count_rows && !classes.counts_all());
    let mut unavoidable_cost = 0;
    for point in 0..points.len() {
        let label = classes.served(point) as usize;
        let weights = classes.weights(point);
        let shared = weights.iter().min().copied().filter(|_| unit.is_some()).unwrap_or(0);
        unavoidable_cost += shared * (weights.len() as i64 - 1) * unit.unwrap_or(0);
        for (class, &weight) in weights.iter().enumerate() {
            let (weight, worst) = (weight - shared, worst[class]);
            if worst == 0 && !count_rows && !classes.counts_all() {
                continue;
            }
            for bit in bits_of(weight as u64) {
                let weight = 1 << bit;
                let segment = Segment {
                    class: class as u32,
                    weight,
                    least: weight * classes.cost(class, label),
                    worst: weight * worst,
                    rows: if weights_are_rows { weight } else { 0 },
                };
                map.entry(segment).or_default().push(point as u32);
            }
        }
    }
    if count_rows && !weights_are_rows {
        slice_rows(points, &mut map);
    }
    let (mut segments, mut entries) = (Vec::new(), Vec::new());
    append(&mut segments, &mut entries, map);
    Entries { segments, points: entries, unavoidable_cost }
}

/// Points' least costs are told apart this well: what lies between two levels counts as the lower
/// one, which is still a lower bound.
const LEVELS: usize = 16;

/// Counts of any number of statistics. A point's first entry carries its least cost.
fn counts(points: &Points, task: &dyn Task, count_rows: bool) -> Entries {
    let mut map: HashMap<Segment, Vec<u32>> = HashMap::new();
    let levels = levels((0..points.len()).map(|point| task.least(point)));
    for point in 0..points.len() {
        let mut least = levels[levels.partition_point(|&l| l <= task.least(point)) - 1];
        for (class, &count) in task.stats(point).iter().enumerate() {
            for bit in bits_of(count as u64) {
                let segment =
                    Segment { class: class as u32, weight: 1 << bit, least, worst: 0, rows: 0 };
                map.entry(segment).or_default().push(point as u32);
                least = 0;
            }
        }
    }
    if count_rows {
        slice_rows(points, &mut map);
    }
    let (mut segments, mut entries) = (Vec::new(), Vec::new());
    append(&mut segments, &mut entries, map);
    Entries { segments, points: entries, unavoidable_cost: 0 }
}

/// 0, and a few of the costs that stand for all above them.
fn levels(costs: impl Iterator<Item = Cost>) -> Vec<Cost> {
    let mut costs: Vec<Cost> = costs.filter(|&cost| cost > 0).collect();
    costs.sort_unstable();
    costs.dedup();
    let step = costs.len().div_ceil(LEVELS).max(1);
    std::iter::once(0).chain(costs.into_iter().step_by(step)).collect()
}

fn slice_rows(points: &Points, map: &mut HashMap<Segment, Vec<u32>>) {
    for point in 0..points.len() {
        for bit in bits_of(points.rows(point)) {
            let segment = Segment { class: 0, weight: 0, least: 0, worst: 0, rows: 1 << bit };
            map.entry(segment).or_default().push(point as u32);
        }
    }
}

fn append(
    segments: &mut Vec<Segment>,
    entries: &mut Vec<Vec<u32>>,
    map: HashMap<Segment, Vec<u32>>,
) {
    let mut found: Vec<_> = map.into_iter().collect();
    found.sort_by_key(|(s, _)| (s.class, s.weight == 0, s.least > 0, s.weight, s.least, s.rows));
    for (segment, points) in found {
        segments.push(segment);
        entries.push(points);
    }
}

/// The places of the ones, from the lowest.
fn bits_of(x: u64) -> impl Iterator<Item = u32> {
    let rest = |x: &u64| Some(x & (x - 1)).filter(|&rest| rest != 0);
    std::iter::successors(Some(x).filter(|&x| x != 0), rest).map(u64::trailing_zeros)
}
