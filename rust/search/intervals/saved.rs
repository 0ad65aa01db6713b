//! What a search left behind as bytes, so that it can go on in another process.

use super::SavedSearch;
use super::memo::Memo;
use super::open_intervals::{Cuts, OpenIntervals};
use crate::data::Features;
use crate::error::Result;
use crate::kernel::ranks::{Edge, Item};
use crate::search::common::open_work::OpenWork;
use crate::serial::{Reader, Writer, damaged};
use crate::tree::Plan;

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
    fn write(&self, out: &mut Writer) {
        debug_assert!(self.idle(), "a search that goes on is not saved");
        // The order within the heap stays, so that the same of several equal bounds is next.
        out.list(self.work.iter(), |out, item| {
            if out.is_full() {
                return;
            }
            out.signed(item.bound);
            out.size(item.axis);
            match item.what {
                Cuts::One(edge) => {
                    out.flag(false);
                    write_edge(edge, out);
                }
                Cuts::Between(a, b) => {
                    out.flag(true);
                    write_edge(a, out);
                    write_edge(b, out);
                }
            }
        });
        out.signed(self.work.settled());
        out.signed(self.upper);
    }

    fn read(from: &mut Reader, features: &Features) -> Result<OpenIntervals> {
        let most = features.iter().map(|feature| i64::from(feature.cuts)).max().unwrap_or(0);
        let open = from.list(|from| {
            let (bound, axis) = (from.signed()?, from.below(features.len(), "axis")? as usize);
            let what = match from.flag()? {
                false => Cuts::One(read_edge(from, most)?),
                true => Cuts::Between(read_edge(from, most)?, read_edge(from, most)?),
            };
            Ok(Item { bound, axis, what })
        })?;
        let work = OpenWork::at_rest(open, from.signed()?);
        Ok(OpenIntervals { work, upper: from.signed()?, plan: Plan::Leaf })
    }
}

fn write_edge(Edge { cut, left, right }: Edge, out: &mut Writer) {
    [cut, left, right].into_iter().for_each(|number| out.signed(number));
}

fn read_edge(from: &mut Reader, most: i64) -> Result<Edge> {
    let edge = Edge { cut: from.signed()?, left: from.signed()?, right: from.signed()? };
    match (-1..=most).contains(&edge.cut) {
        true => Ok(edge),
        false => Err(damaged("there is no such cut")),
    }
}

impl Memo {
    fn write(&self, out: &mut Writer) {
        let mut bounds: Vec<(_, _)> = self.bounds.iter().collect();
        bounds.sort_unstable();
        out.list(bounds.into_iter(), |out, (&(rows, depth), &lower)| {
            if !out.is_full() {
                out.random(rows);
                out.short(depth);
                out.signed(lower);
            }
        });
    }

    fn read(from: &mut Reader) -> Result<Memo> {
        let bounds = from.list(|from| Ok(((from.random()?, from.short()?), from.signed()?)))?;
        Ok(Memo { bounds: bounds.into_iter().collect(), ..Memo::default() })
    }
}
