//! A search that several processes share: each searches the trees that begin with some of the
//! questions, and keeps what it has proved of nodes for the next part that it is given.
//!
//! A part is small and its bounds are true at every moment, so that nothing is lost with a process
//! but time: the least of all parts' bounds is one of all trees.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::conclude::{Answer, conclude, confirm};
use super::exactly;
use super::incumbent::{Incumbent, is_allowed};
use super::part::Part;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::finish::{cost_of, grow};
use crate::problem::Problem;
use crate::route::{Route, SavedSearch};
use crate::run::{HeapBytes, Held, Limits, Run};
use crate::search::best_first::{self, News, Options, Table};
use crate::search::{Found, intervals};
use crate::tree::Tree;

/// What is known of the trees of a part.
pub struct Known {
    /// No tree of the part costs less, or less than the cutoff.
    pub lower: Cost,
    /// A tree of the problem that costs less than the cutoff, and its cost.
    pub better: Option<(Tree, Cost)>,
    /// The part as it is to be searched on.
    pub left: Part,
}

/// A problem, and what this process has proved of its nodes.
pub struct Share {
    problem: Arc<Problem>,
    route: Route,
    /// All trees, as far as a search that was cut short has come.
    whole: Mutex<Option<Part>>,
    nodes: Mutex<Nodes>,
}

/// What is known of nodes, and what was told of them, by this process and by others.
enum Nodes {
    Table(Table, News),
    Intervals(intervals::SavedSearch),
}

impl Share {
    /// An error unless the problem's route has questions at its root that can be divided.
    pub fn new(problem: Arc<Problem>) -> Result<Share> {
        let route = Route::of(&problem);
        let nodes = match route {
            Route::CutByCut => Nodes::Table(Table::default(), News::default()),
            Route::Intervals => Nodes::Intervals(intervals::SavedSearch::default()),
            other => {
                return Err(Error::invalid(format!(
                    "searches cut by cut and over intervals of cuts are divided among workers, but \
                     the route of this problem is {:?}: search it in one process",
                    other.name()
                )));
            }
        };
        let whole = Mutex::new(Part::whole(route));
        Ok(Share { problem, route, whole, nodes: Mutex::new(nodes) })
    }

    /// All trees: once, because whoever coordinates divides them from then on.
    pub fn whole(&self) -> Option<Part> {
        locked(&self.whole).take()
    }

    /// Limits of a run that searches a part for `slice`. Searches cut by cut stop wherever they are
    /// then; over intervals a cut that was begun is looked at to its end, because what is known of
    /// its sides would be lost.
    pub fn within(&self, limits: Limits, slice: Duration) -> Limits {
        match self.route {
            Route::CutByCut => {
                Limits { time: Some(limits.time.map_or(slice, |time| time.min(slice))), ..limits }
            }
            _ => limits,
        }
    }

    /// Search the trees of this part that cost less than `cutoff`, for `slice` and within the
    /// limits of the run.
    pub fn search(&self, part: Part, cutoff: Cost, slice: Duration, run: &Run) -> Result<Known> {
        Error::guard(|| {
            let (found, left) = match (&mut *self.nodes(), part) {
                (Nodes::Table(table, news), Part::Questions(part)) => {
                    let options = Options { cutoff, part: Some(part), ..Default::default() };
                    let known = std::mem::take(table);
                    news.most = usize::try_from(run.memory() / 4).unwrap_or(usize::MAX);
                    let _held = Held::of(run, news.heap_bytes());
                    let (found, known) =
                        best_first::go_on_told(&self.problem, run, &options, known, news)?;
                    *table = known.unwrap_or_default();
                    (found, Part::Questions(part))
                }
                (Nodes::Intervals(saved), Part::Cuts(part)) => {
                    let slice = Some(slice);
                    let options = intervals::Options { cutoff, slice, ..Default::default() };
                    let mut known = std::mem::take(saved);
                    known.put_root(part);
                    let (found, mut known) = intervals::go_on(&self.problem, run, &options, known)?;
                    let left = known.take_root();
                    *saved = known;
                    (found, Part::Cuts(left))
                }
                _ => return Err(Error::invalid("the part is of a search by another route")),
            };
            let Found { lower, upper, plan } = found;
            let better = match upper < cutoff {
                true => {
                    let tree = grow(&self.problem, plan)?;
                    confirm(&self.problem, &tree, upper)?;
                    Some((tree, upper))
                }
                false => None,
            };
            Ok(Known { lower: lower.min(cutoff), better, left })
        })
    }

    /// Begin with what a search knows that was cut short, of this very problem.
    pub fn begin_with(&self, known: &Incumbent) {
        match (&mut *self.nodes(), known.take()) {
            (Nodes::Table(table, _), Some(SavedSearch::Nodes(known))) => *table = known,
            (Nodes::Intervals(saved), Some(SavedSearch::Intervals(mut known))) => {
                *locked(&self.whole) = Some(Part::Cuts(known.take_root()));
                *saved = known;
            }
            _ => (),
        }
    }

    /// Lower bounds of nodes that were proved since this was last asked, for other processes.
    /// `large`: only of nodes that take more than one look, which are few.
    pub fn news(&self, large: bool) -> Vec<u8> {
        match &mut *self.nodes() {
            Nodes::Table(table, news) => news.of(table, large),
            Nodes::Intervals(_) => Vec::new(),
        }
    }

    /// Take in the news of another process that searches this very problem.
    pub fn learn(&self, news: &[u8]) -> Result<()> {
        match &mut *self.nodes() {
            Nodes::Table(_, known) => known.learn(news),
            Nodes::Intervals(_) => Ok(()),
        }
    }

    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        locked(&self.nodes)
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
            let answer = conclude(tree, self.route, bounds, self.problem.scale, run);
            Ok((exactly::settle_finely(&self.problem, answer, run)?, known))
        })
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
