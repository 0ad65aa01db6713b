//! Rows in the order of each feature: what a search over all cuts of continuous features walks
//! along.
//!
//! A node's rows have local numbers 0, 1, …, and its ranks are dense: every rank has a row, so
//! every cut between neighbouring ranks splits something. A feature with one value within the node
//! has no axis.

use super::bit_view::Fingerprint;
use crate::cost::Cost;
use crate::data::{Feature, Features, Order, Points};
use crate::ids::{FeatureId, Side};

/// The root's rows, and what does not change below it.
pub struct RankView {
    /// By row of the view.
    pub fingerprints: Vec<Fingerprint>,
    pub worst: Vec<Cost>,
    pub root: RankNode,
    /// `None` where one row is enough for a leaf.
    pub least_rows: Option<LeastRows>,
    /// By feature: the code of missing values, if this feature has them lowest, and the one before
    /// it, which is otherwise the same, highest.
    lowest: Vec<Option<u32>>,
}

/// The least number of rows that a leaf must hold.
pub struct LeastRows {
    /// By row of the view: the rows of its point. A point counts once, with its first row.
    of_row: Vec<u64>,
    least: u64,
}

impl LeastRows {
    fn new(data: &Points, points: &[u32], least: u64) -> Option<Self> {
        let rows_of = |(at, &point): (usize, &u32)| match at > 0 && points[at - 1] == point {
            true => 0,
            false => data.rows(point as usize),
        };
        let of_row = || points.iter().enumerate().map(rows_of).collect();
        (least > 1).then(|| LeastRows { of_row: of_row(), least })
    }

    /// What the problem asks of each leaf.
    pub fn least(&self) -> u64 {
        self.least
    }

    /// How many rows these rows of the view stand for.
    pub fn count(&self, rows: impl Iterator<Item = u32>) -> u64 {
        rows.map(|row| self.of_row[row as usize]).sum()
    }

    /// Give the rows at either end of an axis one value, up to the first that leaves enough of them
    /// on its side. `order`: local rows, ascending by their values.
    fn join_ends(&self, least: u64, rows: &[u32], order: &[u32], values: &mut [u32]) {
        let of = |&row: &u32| rows[row as usize];
        let first = self.places(least, order.iter().map(of)).min(order.len());
        let last = self.places(least, order.iter().rev().map(of)).min(order.len());
        let (low, high) = (values[first - 1], values[order.len() - last]);
        let high = high.max(low);
        values.iter_mut().for_each(|value| *value = (*value).clamp(low, high));
    }

    /// How many of these rows of the view it takes until they stand for `least`; more than there
    /// are, if they never do.
    pub fn places(&self, least: u64, rows: impl Iterator<Item = u32>) -> usize {
        let (mut held, mut places) = (0, 0);
        for row in rows {
            held += self.of_row[row as usize];
            places += 1;
            if held >= least {
                return places;
            }
        }
        places + 1
    }
}

/// Some rows of the view, sorted along every feature that splits them.
#[derive(Clone, Default)]
pub struct RankNode {
    /// By local row: its number in the view, ascending.
    pub rows: Vec<u32>,
    pub axes: Vec<Axis>,
    /// What the cuts are known by that were taken away because they leave too few rows on a side;
    /// 0 where none was taken but at the root.
    pub cuts_of: Fingerprint,
}

/// Where missing values stand on an axis, if it is one of the two axes of a column that has some in
/// the node: two neighbours that are alike but for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// They have the last rank.
    Highest,
    /// They have the first rank, with the least of all other values in the node.
    Lowest,
}

/// One feature within a node. Cut c sends ranks up to c left.
#[derive(Clone)]
pub struct Axis {
    pub feature: FeatureId,
    pub missing: Option<Missing>,
    /// Local rows, ascending by rank.
    pub order: Vec<u32>,
    /// By local row.
    pub rank: Vec<u32>,
    /// By rank: how many rows have it or a lower one.
    pub ends: Vec<u32>,
    /// By rank: the worst losses of those rows, added up.
    pub lost: Vec<Cost>,
    /// By rank: the feature's own number of the cut after it.
    pub cuts: Vec<u32>,
}

/// The rows of a node that a question is about.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    pub node: &'a RankNode,
    /// Axis, cut, and the side of it; `None`: all rows.
    pub cut: Option<(usize, u32, Side)>,
}

impl<'a> Part<'a> {
    pub fn all(node: &'a RankNode) -> Self {
        Part { node, cut: None }
    }

    /// Local rows, in some order. A node without axes is a leaf, and has no parts.
    pub fn rows(&self) -> &'a [u32] {
        match self.cut {
            None => &self.node.axes[0].order,
            Some((axis, cut, Side::Left)) => self.node.axes[axis].left(cut),
            Some((axis, cut, Side::Right)) => self.node.axes[axis].right(cut),
        }
    }

    #[inline(always)]
    pub fn holds(&self, row: u32) -> bool {
        match self.cut {
            None => true,
            Some((axis, cut, side)) => {
                (self.node.axes[axis].rank[row as usize] <= cut) == (side == Side::Left)
            }
        }
    }
}

impl Axis {
    pub fn n_ranks(&self) -> usize {
        self.ends.len()
    }

    /// How many ranks come before that of missing values, where these are highest; else all.
    pub fn n_known(&self) -> usize {
        self.n_ranks() - usize::from(self.missing == Some(Missing::Highest))
    }

    pub fn left(&self, cut: u32) -> &[u32] {
        &self.order[..self.ends[cut as usize] as usize]
    }

    pub fn right(&self, cut: u32) -> &[u32] {
        &self.order[self.ends[cut as usize] as usize..]
    }

    pub fn bytes(&self) -> usize {
        4 * (self.order.capacity() + self.rank.capacity() + self.ends.capacity())
            + 4 * self.cuts.capacity()
            + size_of::<Cost>() * self.lost.capacity()
    }

    /// From local rows in ascending order and, by their place, a number for each that rises with
    /// the feature. `worst`: by local row.
    fn of(
        feature: FeatureId,
        order: Vec<u32>,
        value: impl Fn(usize) -> u32,
        worst: impl Fn(usize) -> Cost,
    ) -> Option<Axis> {
        let same = |at: usize| value(at) == value(at - 1);
        let n_ranks = (1..order.len()).filter(|&at| !same(at)).count() + 1;
        if n_ranks < 2 {
            return None;
        }
        let mut rank = vec![0; order.len()];
        let mut ends = Vec::with_capacity(n_ranks);
        let mut lost = Vec::with_capacity(n_ranks);
        let mut cuts = Vec::with_capacity(n_ranks);
        let mut sum = 0;
        for at in 0..order.len() {
            if at > 0 && !same(at) {
                ends.push(at as u32);
                lost.push(sum);
                cuts.push(value(at - 1));
            }
            rank[order[at] as usize] = ends.len() as u32;
            sum += worst(order[at] as usize);
        }
        ends.push(order.len() as u32);
        lost.push(sum);
        cuts.push(value(order.len() - 1));
        Some(Axis { feature, missing: None, order, rank, ends, lost, cuts })
    }

    /// This axis with missing values lowest, which are highest here: they join the first rank.
    fn turned(&self, feature: FeatureId) -> Axis {
        let n_known = self.n_ranks() - 1;
        let (known, missing) = self.order.split_at(self.ends[n_known - 1] as usize);
        let mut rank = self.rank.clone();
        missing.iter().for_each(|&row| rank[row as usize] = 0);
        let lost = self.lost[n_known] - self.lost[n_known - 1];
        Axis {
            feature,
            missing: Some(Missing::Lowest),
            order: [missing, known].concat(),
            rank,
            ends: self.ends[..n_known].iter().map(|&end| end + missing.len() as u32).collect(),
            lost: self.lost[..n_known].iter().map(|sum| sum + lost).collect(),
            cuts: self.cuts[..n_known].to_vec(),
        }
    }
}

impl RankView {
    /// A row for each entry of `points` (a point may have several), with the most that it can cost.
    /// There are no cuts with less than `min_rows` of all rows on a side.
    pub fn new(
        features: &Features,
        data: &Points,
        min_rows: u64,
        points: &[u32],
        worst: Vec<Cost>,
    ) -> Self {
        // Rows of one point are never apart: with equal fingerprints they would cancel out.
        let fingerprints = (0..points.len() as u32).map(fingerprint).collect();
        // Where leaves must hold rows, values at the ends are one, missing or not.
        let lowest = features.iter().map(|feature| match feature.order {
            Order::MissingLowest(missing) if min_rows <= 1 => Some(missing),
            _ => None,
        });
        let rows = (0..points.len() as u32).collect();
        let root = RankNode { rows, axes: Vec::new(), cuts_of: 0 };
        let least_rows = LeastRows::new(data, points, min_rows);
        let lowest = lowest.collect();
        let mut view = RankView { fingerprints, worst, root, least_rows, lowest };
        let mut axes = Vec::new();
        for (index, feature) in features.iter().enumerate() {
            if view.turns(index.into(), &mut axes) {
                continue;
            }
            let (first, last) = useful(feature, data, min_rows);
            let value = |&point: &u32| feature.rank(data, point as usize).clamp(first, last);
            let values: Vec<u32> = points.iter().map(value).collect();
            let (order, ascending) = sorted(&values, feature.cuts as usize + 1);
            let axis = Axis::of(index.into(), order, |at| ascending[at], |row| view.worst[row]);
            axes.extend(axis);
        }
        view.root.axes = axes;
        view
    }

    /// Whether a feature is the one before it with missing values lowest instead of highest. If so,
    /// its axis is added, unless it splits nothing that the other does not: where no value is
    /// missing, or all others are one, both orders of a column split alike.
    fn turns(&self, feature: FeatureId, axes: &mut Vec<Axis>) -> bool {
        let Some(missing) = self.lowest[feature.index()] else { return false };
        let before = axes.last_mut().filter(|before| before.feature.0 + 1 == feature.0);
        let other =
            |before: &&mut Axis| before.n_ranks() > 2 && before.cuts.last() == Some(&missing);
        if let Some(before) = before.filter(other) {
            before.missing = Some(Missing::Highest);
            let turned = before.turned(feature);
            axes.push(turned);
        }
        true
    }

    /// Bytes of a view of so many rows, before it is made.
    pub fn bytes_for(features: &Features, rows: usize) -> usize {
        let per_row = size_of::<Fingerprint>() + size_of::<Cost>() + 4;
        let axes: usize =
            features.iter().map(|f| 8 * rows + 16 * rows.min(f.cuts as usize + 1)).sum();
        rows * per_row + axes
    }

    pub fn bytes(&self) -> usize {
        self.fingerprints.capacity() * size_of::<Fingerprint>()
            + self.worst.capacity() * size_of::<Cost>()
            + self.root.bytes()
            + self.least_rows.as_ref().map_or(0, |least| 8 * least.of_row.capacity())
    }

    /// What the rows of a part are known by.
    pub fn fingerprint(&self, part: Part) -> Fingerprint {
        let global = |row: &u32| self.fingerprints[part.node.rows[*row as usize] as usize];
        part.rows().iter().map(global).fold(0, |all, one| all ^ one)
    }
}

impl RankNode {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn bytes(&self) -> usize {
        4 * self.rows.capacity()
            + self.axes.iter().map(Axis::bytes).sum::<usize>()
            + self.axes.capacity() * size_of::<Axis>()
    }

    /// The rows of a part as a node of their own. Partitions are stable, so nothing is sorted
    /// again.
    pub fn child(part: Part, view: &RankView) -> RankNode {
        RankNode::child_with_least_rows(part, view, 1)
    }

    /// As above, without the cuts that leave fewer than `least` rows on a side: no tree below with
    /// such leaves has them. `least` is no more than at the nodes above.
    pub fn child_with_least_rows(part: Part, view: &RankView, least: u64) -> RankNode {
        let least_rows = view.least_rows.as_ref().filter(|_| least > 1);
        let node = part.node;
        const GONE: u32 = u32::MAX;
        let mut local = vec![GONE; node.len()];
        for &row in part.rows() {
            local[row as usize] = 0;
        }
        let mut rows = Vec::with_capacity(part.rows().len());
        for (row, local) in local.iter_mut().enumerate() {
            if *local != GONE {
                *local = rows.len() as u32;
                rows.push(node.rows[row]);
            }
        }
        let mut axes = Vec::with_capacity(node.axes.len());
        let mut values = Vec::with_capacity(rows.len());
        for axis in &node.axes {
            if view.turns(axis.feature, &mut axes) {
                continue;
            }
            let mut order = Vec::with_capacity(rows.len());
            values.clear();
            for &row in &axis.order {
                let new = local[row as usize];
                if new != GONE {
                    order.push(new);
                    values.push(axis.cuts[axis.rank[row as usize] as usize]);
                }
            }
            if let Some(least_rows) = least_rows {
                least_rows.join_ends(least, &rows, &order, &mut values);
            }
            let lost = |row: usize| view.worst[rows[row] as usize];
            axes.extend(Axis::of(axis.feature, order, |at| values[at], lost));
        }
        let cuts_of = match least_rows {
            // What such a part lacks, all that it is a part of lack as well.
            Some(least_rows) if least_rows.least == least => view.fingerprint(part),
            Some(_) => mixed(mixed(node.cuts_of, 0) ^ view.fingerprint(part), least),
            None => node.cuts_of,
        };
        RankNode { rows, axes, cuts_of }
    }
}

/// The least and the largest value that can be told from others: with `min_rows` up to the one, and
/// from the other on.
fn useful(feature: &Feature, data: &Points, min_rows: u64) -> (u32, u32) {
    if min_rows <= 1 {
        return (0, feature.cuts);
    }
    let mut rows = vec![0; feature.cuts as usize + 1];
    for point in 0..data.len() {
        rows[feature.rank(data, point) as usize] += data.rows(point);
    }
    let enough = || {
        let mut sum = 0;
        move |more: &u64| {
            sum += more;
            sum >= min_rows
        }
    };
    let first = rows.iter().position(enough()).unwrap_or(rows.len() - 1);
    let last = rows.iter().rposition(enough()).unwrap_or(0);
    // Where they cross no cut leaves enough.
    (first as u32, last.max(first) as u32)
}

/// Rows in ascending order of their values, which are below `n_values`, and these; ties by row.
fn sorted(values: &[u32], n_values: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; n_values + 1];
    for &value in values {
        starts[value as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let (mut order, mut ascending) = (vec![0; values.len()], vec![0; values.len()]);
    for (row, &value) in values.iter().enumerate() {
        let at = &mut starts[value as usize];
        (order[*at as usize], ascending[*at as usize]) = (row as u32, value);
        *at += 1;
    }
    (order, ascending)
}

/// A fingerprint of a fingerprint and a number.
fn mixed(of: Fingerprint, number: u64) -> Fingerprint {
    const ODD: Fingerprint = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let x = of.wrapping_add(Fingerprint::from(number)).wrapping_mul(ODD);
    (x ^ (x >> 67)).wrapping_mul(ODD)
}

/// One problem gives one search: numbers are a hash of the row's.
fn fingerprint(row: u32) -> Fingerprint {
    let mix = |seed: u64| {
        let mut z = u64::from(row).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (u128::from(mix(0x243f_6a88_85a3_08d3)) << 64) | u128::from(mix(0x1319_8a2e_0370_7344))
}
