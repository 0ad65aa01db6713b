//! Some of the root's open intervals, which another process searches by itself.
//!
//! Statement: the bounds of a part are bounds of all trees whose first split is in one of its
//! intervals, so that the least of all parts' bounds, and of the best tree's cost, is one of all
//! trees.
//!
//! Proof: intervals are dealt out, and none is left out. What is known of an interval, and of the
//! cuts that it begins and ends with, is true of the problem, whoever knows it.

use std::collections::HashSet;

use super::budget::Division;
use super::open_intervals::{Cuts, OpenIntervals};
use crate::bounds::neighbouring_cuts::Edge;
use crate::cost::INFINITE;
use crate::data::Features;
use crate::error::Result;
use crate::kernel::ranks::Item;
use crate::search::common::open_work::OpenWork;
use crate::serial::{Reader, Writer};

/// Intervals of the root; `None`: all cuts, of which nothing is known.
#[derive(Default)]
pub struct RootPart(pub(super) Option<OpenIntervals>);

impl RootPart {
    /// Whether all has been done without the limits on leaves. What is left begins with all parts
    /// together.
    pub fn waits(&self) -> bool {
        self.0.as_ref().is_some_and(OpenIntervals::waits)
    }

    /// Two parts that are this one together. `None` if it is a single cut, or nothing is known.
    pub fn halves(self) -> Option<[RootPart; 2]> {
        let open = self.0?;
        let OpenIntervals { work, edges, budget, upper, relaxed_upper, .. } = &open;
        let mut items: Vec<Item<Cuts>> = work.iter().copied().collect();
        // Neighbours stay together, because what is learned of a cut bounds the intervals beside
        // it: dealt out by their bounds, 150 rows of raisin at depth 5 took 13% more kernel calls.
        items.sort_by_key(|item| (item.axis, item.what.first()));
        let dealt: [Vec<_>; 2] = match items[..] {
            [] => return None,
            [one] => divided(one)?,
            _ => {
                let right = items.split_off(items.len() / 2);
                [items, right]
            }
        };
        Some(dealt.map(|items| {
            let ends: HashSet<_> = items.iter().flat_map(ends).collect();
            let work = OpenWork::at_rest(items, work.settled());
            let mut half = OpenIntervals::at_rest(work, *budget, *upper);
            half.relaxed_upper = *relaxed_upper;
            half.edges = ends.iter().filter_map(|end| Some((*end, *edges.get(end)?))).collect();
            RootPart(Some(half))
        }))
    }

    /// Parts that wait, as one from which the search begins with the limits on leaves.
    pub fn joined(parts: Vec<RootPart>) -> Option<RootPart> {
        let least = parts.iter().map(|part| part.0.as_ref().map_or(0, OpenIntervals::lower)).min();
        let all = parts.into_iter().filter_map(|part| part.0);
        let mut joined = all.min_by_key(|open| open.upper)?;
        joined.work = OpenWork::at_rest(Vec::new(), least.unwrap_or(INFINITE));
        joined.edges.clear();
        Some(RootPart(Some(joined)))
    }

    pub fn write(&self, out: &mut Writer) {
        out.option(self.0.as_ref(), |out, open| open.write(out));
    }

    pub fn read(from: &mut Reader, features: &Features) -> Result<RootPart> {
        Ok(RootPart(from.option(|from| OpenIntervals::read(from, features))?))
    }
}

/// The cuts that an item needs to know of.
fn ends(item: &Item<Cuts>) -> Vec<(usize, i64, Division)> {
    let (cuts, division) = match item.what {
        Cuts::One(edge, division, (first, last)) => (vec![first, edge.cut, last], division),
        Cuts::Between(a, b, division) => (vec![a.cut, b.cut], division),
        // It knows both itself.
        Cuts::Group(_, _, division) => (Vec::new(), division),
    };
    cuts.into_iter().map(|cut| (item.axis, cut, division)).collect()
}

/// Both halves of the cuts of one interval; `None` if it is one cut. A cut between two others has
/// no less left of it than the first, and no less right of it than the second.
fn divided(item: Item<Cuts>) -> Option<[Vec<Item<Cuts>>; 2]> {
    let with = |what: Cuts| Item { what, ..item };
    match item.what {
        Cuts::Between(a, b, division) if b.cut - a.cut > 2 => {
            let cut = a.cut + (b.cut - a.cut) / 2;
            let middle = Edge { cut, left: a.left, right: b.right };
            let one = with(Cuts::One(middle, division, (a.cut, b.cut)));
            let left = with(Cuts::Between(a, middle, division));
            let right = with(Cuts::Between(middle, b, division));
            // A left half of two cuts has none before the middle.
            let left = if cut - a.cut == 1 { vec![one] } else { vec![left, one] };
            Some([left, vec![right]])
        }
        Cuts::Group(a, b, division) if b.cut > a.cut => {
            let last = a.cut + (b.cut - a.cut) / 2;
            let left = with(Cuts::Group(a, Edge { cut: last, ..b }, division));
            let right = with(Cuts::Group(Edge { cut: last + 1, ..a }, b, division));
            Some([vec![left], vec![right]])
        }
        _ => None,
    }
}
