//! What a search left behind as bytes, so that it can go on in another process.

use super::SavedSearch;
use super::budget::{Budget, Division};
use super::memo::Memo;
use super::open_intervals::{Cuts, OpenIntervals};
use crate::bounds::neighbouring_cuts::Edge;
use crate::data::Features;
use crate::error::Result;
use crate::kernel::ranks::Item;
use crate::search::common::open_work::OpenWork;
use crate::serial::{Reader, Writer, damaged};

impl SavedSearch {
    /// A writer that is full ends this early.
    pub fn write(&self, out: &mut Writer) {
        out.option(self.open_intervals.as_ref(), |out, open| open.write(out));
        self.memo.write(out);
    }

    /// What a search of a problem with these features left behind.
    pub fn read(from: &mut Reader, features: &Features) -> Result<SavedSearch> {
        let open_intervals = from.option(|from| OpenIntervals::read(from, features))?;
        Ok(SavedSearch { open_intervals, memo: Memo::read(from)? })
    }
}

impl OpenIntervals {
    /// At rest: nothing is being tried, and the plan was handed out.
    pub(super) fn write(&self, out: &mut Writer) {
        debug_assert!(self.idle(), "a search that goes on is not saved");
        write_budget(self.budget, out);
        // The order within the heap stays, so that the same of several equal bounds is next.
        out.list(self.work.iter(), |out, item| {
            if out.is_full() {
                return;
            }
            out.signed(item.bound);
            out.size(item.axis);
            match item.what {
                Cuts::One(edge, division, (first, last)) => {
                    write_cuts(0, (edge, edge), division, out);
                    [first, last].into_iter().for_each(|cut| out.signed(cut));
                }
                Cuts::Between(a, b, division) => write_cuts(1, (a, b), division, out),
                Cuts::Group(a, b, division) => write_cuts(2, (a, b), division, out),
            }
        });
        out.signed(self.work.settled());
        out.signed(self.upper);
        out.option(self.relaxed_upper, |out, upper| out.signed(upper));
        let mut edges: Vec<_> = self.edges.iter().collect();
        edges.sort_unstable_by_key(|((axis, cut, division), _)| (*axis, *cut, *division));
        out.list(edges.into_iter(), |out, (&(axis, _, division), &edge)| {
            if !out.is_full() {
                out.size(axis);
                write_edge(edge, out);
                write_division(division, out);
            }
        });
    }

    pub(super) fn read(from: &mut Reader, features: &Features) -> Result<OpenIntervals> {
        let budget = read_budget(from)?;
        let most = features.iter().map(|feature| i64::from(feature.cuts)).max().unwrap_or(0);
        let open = from.list(|from| {
            let (bound, axis) = (from.signed()?, from.below(features.len(), "axis")? as usize);
            let kind = from.below(3, "kind of interval")?;
            let (a, b) = (read_edge(from, most)?, read_edge(from, most)?);
            let division = read_division(from, budget)?;
            let what = match kind {
                0 => Cuts::One(a, division, (read_cut(from, most)?, read_cut(from, most)?)),
                1 => Cuts::Between(a, b, division),
                _ => Cuts::Group(a, b, division),
            };
            Ok(Item { bound, axis, what })
        })?;
        let work = OpenWork::at_rest(open, from.signed()?);
        let mut found = OpenIntervals::at_rest(work, budget, from.signed()?);
        found.relaxed_upper = from.option(Reader::signed)?;
        let edges = from.list(|from| {
            let axis = from.below(features.len(), "axis")? as usize;
            let edge = read_edge(from, most)?;
            Ok(((axis, edge.cut, read_division(from, budget)?), edge))
        })?;
        found.edges = edges.into_iter().collect();
        Ok(found)
    }
}

fn write_cuts(kind: u32, (a, b): (Edge, Edge), division: Division, out: &mut Writer) {
    out.short(kind);
    write_edge(a, out);
    write_edge(b, out);
    write_division(division, out);
}

fn write_edge(Edge { cut, left, right }: Edge, out: &mut Writer) {
    [cut, left, right].into_iter().for_each(|number| out.signed(number));
}

fn read_edge(from: &mut Reader, most: i64) -> Result<Edge> {
    Ok(Edge { cut: read_cut(from, most)?, left: from.signed()?, right: from.signed()? })
}

fn read_cut(from: &mut Reader, most: i64) -> Result<i64> {
    let cut = from.signed()?;
    match (-1..=most).contains(&cut) {
        true => Ok(cut),
        false => Err(damaged("there is no such cut")),
    }
}

fn write_budget(Budget { depth, leaves }: Budget, out: &mut Writer) {
    out.short(depth);
    out.short(leaves);
}

fn read_budget(from: &mut Reader) -> Result<Budget> {
    let (depth, leaves) = (from.short()?, from.short()?);
    let budget = Budget::tight(depth, leaves);
    match depth > 0 && budget == (Budget { depth, leaves }) {
        true => Ok(budget),
        false => Err(damaged("no tree has so many levels and leaves")),
    }
}

fn write_division(Division { least, most }: Division, out: &mut Writer) {
    out.short(least);
    out.short(most);
}

/// One that is within those of the budget.
fn read_division(from: &mut Reader, budget: Budget) -> Result<Division> {
    let (least, most) = (from.short()?, from.short()?);
    let all = budget.divisions();
    match all.least <= least && least <= most && most <= all.most {
        true => Ok(Division { least, most }),
        false => Err(damaged("leaves are divided in a way that the budget does not allow")),
    }
}

impl Memo {
    fn write(&self, out: &mut Writer) {
        let mut bounds: Vec<(_, _)> = self.bounds.iter().collect();
        bounds.sort_unstable();
        out.list(bounds.into_iter(), |out, (&(rows, budget), &lower)| {
            if !out.is_full() {
                out.random(rows);
                write_budget(budget, out);
                out.signed(lower);
            }
        });
    }

    fn read(from: &mut Reader) -> Result<Memo> {
        let bounds = from.list(|from| {
            let rows = from.random()?;
            Ok(((rows, read_budget(from)?), from.signed()?))
        })?;
        Ok(Memo { bounds: bounds.into_iter().collect(), ..Memo::default() })
    }
}
