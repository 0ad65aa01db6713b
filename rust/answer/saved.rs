//! What is known of a problem as bytes, so that a search goes on in another process, or after this
//! one has ended.
//!
//! The bytes name their problem by its digest, and are refused by any other one, because a bound
//! says nothing of another problem. The tree is recomputed; lower bounds are believed.

use super::conclude::confirm;
use super::incumbent::{Incumbent, is_allowed};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::route::SavedSearch;
use crate::search::best_first::Table;
use crate::search::intervals;
use crate::serial::{self, Kind, Reader, Saved, Writer, damaged};
use crate::tree::Tree;

impl Incumbent {
    /// The tree, its bounds, and what the search left behind; of that nothing, if all would be more
    /// than `most` bytes.
    pub fn to_bytes(&self, problem: &Problem, most: usize) -> Vec<u8> {
        let write = |out: &mut Writer| {
            out.random(problem.digest());
            out.signed(self.lower);
            out.signed(self.upper);
            self.tree.write(out);
        };
        let saved = self.saved.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut out = Writer::with_most(most);
        write(&mut out);
        write_saved(saved.as_ref(), &mut out);
        if out.is_full() {
            out = Writer::new();
            write(&mut out);
            write_saved(None, &mut out);
        }
        serial::seal(Kind::Search, out)
    }

    /// As above, where it is also known that no tree's objective is below this.
    pub fn bounded_by(mut self, problem: &Problem, lower_bound: f64) -> Incumbent {
        let lower = self.lower.max(problem.scale.cost_above(lower_bound));
        self.lower = lower.min(self.upper);
        self
    }

    /// What was known of this very problem.
    pub fn from_bytes(problem: &Problem, bytes: &[u8]) -> Result<Incumbent> {
        let from = &mut serial::open(Kind::Search, bytes)?;
        if from.random()? != problem.digest() {
            return Err(Error::invalid(
                "this search is of another problem: its data, its task, its limits or its prices \
                 differ",
            ));
        }
        let bounds @ (lower, upper) = (from.signed()?, from.signed()?);
        let tree = Tree::read(from)?;
        let saved = read_saved(from, problem)?;
        from.finish()?;
        let is_sound = || {
            lower <= upper
                && fits(problem, &tree)
                && is_allowed(problem, &tree)
                && confirm(problem, &tree, upper).is_ok()
        };
        match Error::guard(|| Ok(is_sound())).unwrap_or(false) {
            true => Ok(Incumbent::new(tree, bounds, saved)),
            false => {
                Err(damaged("their tree is none of the problem, or does not cost what they say"))
            }
        }
    }
}

/// Whether the columns and labels of a tree are those of the problem.
fn fits(problem: &Problem, tree: &Tree) -> bool {
    let n_labels = problem.task.structure().n_labels().max(1);
    tree.nodes.iter().all(|node| {
        let column = node.split.as_ref().map(|split| split.column.index());
        column.is_none_or(|column| column < problem.columns.len())
            && (node.label as usize) < n_labels
    })
}

fn write_saved(saved: Option<&SavedSearch>, out: &mut Writer) {
    match saved {
        None => out.byte(0),
        Some(SavedSearch::Nodes(table)) => {
            out.byte(1);
            table.write(out);
        }
        Some(SavedSearch::Intervals(saved)) => {
            out.byte(2);
            saved.write(out);
        }
    }
}

fn read_saved(from: &mut Reader, problem: &Problem) -> Result<Option<SavedSearch>> {
    let cuts = problem.features.iter().map(|feature| feature.cuts as usize).sum();
    Ok(match from.byte()? {
        0 => None,
        1 => Some(SavedSearch::Nodes(Table::read(from, cuts)?)),
        2 => Some(SavedSearch::Intervals(intervals::SavedSearch::read(from, &problem.features)?)),
        _ => return Err(damaged("a search is of no known kind")),
    })
}
