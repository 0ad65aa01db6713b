//! A search that several processes share: each searches the trees that begin with some of the
//! questions, and keeps what it has proved of nodes for the next part that it is given.
//!
//! A part is small and its bounds are true at every moment, so that nothing is lost with a process
//! but time: the least of all parts' bounds is one of all trees.

use std::sync::{Arc, Mutex, MutexGuard};

use super::conclude::{Answer, conclude, confirm};
use super::exactly;
use super::incumbent::{Incumbent, is_allowed};
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::finish::{cost_of, grow};
use crate::problem::Problem;
use crate::route::{Route, SavedSearch};
use crate::run::{HeapBytes, Held, Run};
use crate::search::best_first::{self, News, Options, Table};
use crate::tree::Tree;

pub use crate::search::best_first::Part;

/// What is known of the trees of a part, or of all.
#[derive(Debug, Clone)]
pub struct Known {
    /// No tree of the part costs less, or less than the cutoff.
    pub lower: Cost,
    /// A tree of the problem that costs less than the cutoff, and its cost.
    pub better: Option<(Tree, Cost)>,
}

/// A problem, and what this process has proved of its nodes.
pub struct Share {
    problem: Arc<Problem>,
    /// The nodes, and what was told of them, by this process and by others.
    known: Mutex<(Table, News)>,
}

impl Share {
    /// An error unless the problem is searched cut by cut: other searches have no questions at
    /// their root that could be divided.
    pub fn new(problem: Arc<Problem>) -> Result<Share> {
        match Route::of(&problem) {
            Route::CutByCut => Ok(Share { problem, known: Mutex::default() }),
            other => Err(Error::invalid(format!(
                "only searches cut by cut are divided among workers, but the route of this problem \
                 is {:?}: search it in one process, or give fewer thresholds",
                other.name()
            ))),
        }
    }

    /// Search the trees that begin with a question of this part and cost less than `cutoff`, within
    /// the limits of the run.
    pub fn search(&self, part: Part, cutoff: Cost, run: &Run) -> Result<Known> {
        Error::guard(|| {
            let (kept, news) = &mut *self.lock();
            let options = Options { cutoff, part: Some(part), ..Default::default() };
            let table = std::mem::take(kept);
            news.most = usize::try_from(run.memory() / 4).unwrap_or(usize::MAX);
            let _held = Held::of(run, news.heap_bytes());
            let (found, table) = best_first::go_on_told(&self.problem, run, &options, table, news)?;
            *kept = table.unwrap_or_default();
            let better = match found.upper < cutoff {
                true => {
                    let tree = grow(&self.problem, found.plan)?;
                    confirm(&self.problem, &tree, found.upper)?;
                    Some((tree, found.upper))
                }
                false => None,
            };
            Ok(Known { lower: found.lower.min(cutoff), better })
        })
    }

    /// Begin with the nodes of a search that was cut short, of this very problem.
    pub fn begin_with(&self, known: &Incumbent) {
        if let Some(SavedSearch::Nodes(table)) = known.take() {
            self.lock().0 = table;
        }
    }

    /// Lower bounds of nodes that were proved since this was last asked, for other processes.
    /// `large`: only of nodes that take more than one look, which are few.
    pub fn news(&self, large: bool) -> Vec<u8> {
        let (table, news) = &mut *self.lock();
        news.of(table, large)
    }

    /// Take in the news of another process that searches this very problem.
    pub fn learn(&self, news: &[u8]) -> Result<()> {
        self.lock().1.learn(news)
    }

    fn lock(&self) -> MutexGuard<'_, (Table, News)> {
        self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// What a tree costs. An error unless it is one of the problem's.
    pub fn cost(&self, tree: &Tree) -> Result<Cost> {
        let fits = Incumbent::of_tree(&self.problem, tree.clone(), f64::NEG_INFINITY);
        fits.map(|known| known.upper)
    }

    /// The answer, once the parts have proved that no tree costs less than `lower`.
    pub fn conclude(&self, tree: Tree, lower: Cost, run: &Run) -> Result<(Answer, Incumbent)> {
        Error::guard(|| {
            if !is_allowed(&self.problem, &tree) {
                return Err(Error::invalid("the tree is none of this problem"));
            }
            let upper = cost_of(&self.problem, &tree);
            let known = Incumbent::new(tree.clone(), (lower, upper), None);
            run.begin_with(known.lower, known.upper);
            let bounds = (known.lower, known.upper);
            let answer = conclude(tree, Route::CutByCut, bounds, self.problem.scale, run);
            Ok((exactly::settle_finely(&self.problem, answer, run)?, known))
        })
    }
}
