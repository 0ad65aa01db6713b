//! Makes the graph of all trees within a budget.
//!
//! Sets of rows are taken in the order of their size, the largest first: all nodes above a node are
//! done before it, so that it is known by then how much its tree may cost at most, and each node is
//! looked at once. A split is listed if the best trees of both sides are within the budget
//! together, so that each split of the graph is in some tree of the set.

use std::collections::BinaryHeap;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::graph::{Child, Graph, Node, Split};
use super::least::{Optima, name};
use super::losses::Losses;
use super::questions::Questions;
use super::rows::{Candidate, Looker, UNLIMITED, below};
use super::wanted::{Alike, LeafAnswers, Wanted};
use crate::cost::Cost;
use crate::error::Result;
use crate::kernel::Unfinished;
use crate::problem::{Problem, Shape};
use crate::run::{Held, Run, Status};
use crate::search::common::set_up::set_up_counting;

/// Memory is counted once in so many nodes.
const OFTEN: usize = 256;

struct Builder<'a, 'run> {
    problem: &'a Problem,
    wanted: Wanted,
    looker: Looker<'a, 'run>,
    optima: Optima,
    questions: &'a Questions,
    losses: Losses,
    graph: Graph,
    /// By rows and depth.
    nodes: HashMap<Arc<[u64]>, u32>,
    names: Vec<Arc<[u64]>>,
    /// By what the answers cost: their place.
    answers: HashMap<Box<[Cost]>, u32>,
    /// Of the leaf that is looked at.
    costs: Vec<Cost>,
    /// Of the split that is listed: both sides' rows.
    sides: [Vec<u64>; 2],
    /// How many rows, and the node.
    open: BinaryHeap<(u32, std::cmp::Reverse<u32>)>,
}

/// The depth that trees can have: k leaves allow a depth of k − 1.
fn depth_of(shape: &Shape) -> u32 {
    // Small leaves are refused one by one.
    let Shape { max_depth, max_leaves, min_leaf_rows: _ } = *shape;
    let by_leaves = max_leaves.map_or(UNLIMITED, |leaves| leaves - 1);
    max_depth.unwrap_or(UNLIMITED).min(by_leaves)
}

pub fn build(problem: &Problem, wanted: Wanted, run: &Run) -> Result<Graph> {
    let halt = || run.check_time().is_some();
    let Some(set_up) = set_up_counting(problem, run, true, &halt)? else {
        return Ok(Graph::default());
    };
    let questions = Questions::new(problem, &set_up.bits.questions);
    let mut held = Held::new(run);
    let mut builder =
        Builder::new(problem, wanted, Looker::new(problem, &set_up.bits, run), &questions);
    builder.begin();
    while let Some((_, std::cmp::Reverse(node))) = builder.open.pop() {
        builder.graph.order.push(node);
        if run.stopped().is_none() {
            builder.expand(node).unwrap_or_default();
        }
        if builder.graph.order.len().is_multiple_of(OFTEN) {
            held.set(builder.bytes());
            if !run.fits(0) {
                run.stop(Status::MemoryLimit);
            }
            run.check_time();
            run.report(0, crate::cost::INFINITE);
        }
    }
    run.add_nodes(builder.graph.nodes.len() as u64);
    problem.task.failure().map_or(Ok(()), Err)?;
    builder.graph.is_complete = run.stopped().is_none();
    Ok(builder.finish())
}

impl<'a, 'run> Builder<'a, 'run> {
    fn new(
        problem: &'a Problem,
        wanted: Wanted,
        looker: Looker<'a, 'run>,
        questions: &'a Questions,
    ) -> Self {
        let cuts = questions.members.iter().map(|member| (member.cut, member.column));
        let graph = Graph {
            questions: cuts.collect(),
            max_leaves: problem.shape.max_leaves,
            ..Graph::default()
        };
        Builder {
            problem,
            wanted,
            losses: Losses::new(problem, looker.bits),
            looker,
            optima: Optima::default(),
            questions,
            graph,
            nodes: HashMap::new(),
            names: Vec::new(),
            answers: HashMap::new(),
            costs: Vec::new(),
            sides: Default::default(),
            open: BinaryHeap::new(),
        }
    }

    fn begin(&mut self) {
        let rows = self.looker.all_rows();
        let leaf = self.problem.as_one_leaf();
        let depth = depth_of(&self.problem.shape);
        self.node(&rows, depth, leaf, Cost::MIN, self.wanted.budget);
    }

    fn bytes(&self) -> usize {
        let words = self.names.first().map_or(0, |name| name.len() * 8 + 16);
        self.graph.bytes()
            + self.looker.bytes()
            + self.optima.bytes()
            + self.nodes.allocation_size()
            + self.names.capacity() * size_of::<Arc<[u64]>>()
            + self.names.len() * words
    }

    /// The node of these rows, which may cost `budget` here and `least` at least.
    fn node(&mut self, rows: &[u64], depth: u32, leaf: Cost, least: Cost, budget: Cost) -> u32 {
        let name = name(rows, depth);
        if let Some(&known) = self.nodes.get(&*name) {
            let node = &mut self.graph.nodes[known as usize];
            node.budget = node.budget.max(budget);
            return known;
        }
        let name: Arc<[u64]> = name.into();
        let id = self.graph.nodes.len() as u32;
        let leaf = self.leaf(rows, leaf);
        self.graph.nodes.push(Node { budget, least, leaf, splits: (0, 0) });
        self.nodes.insert(name.clone(), id);
        self.names.push(name);
        let n = rows.iter().map(|word| word.count_ones()).sum();
        self.open.push((n, std::cmp::Reverse(id)));
        id
    }

    /// The place of what these rows may answer as a leaf; `cost` is that of the best answer.
    fn leaf(&mut self, rows: &[u64], cost: Cost) -> u32 {
        self.costs.clear();
        match self.wanted.answers {
            LeafAnswers::Any if self.problem.labelled().is_some() => {
                self.losses.add(rows, &mut self.costs);
                self.costs.iter_mut().for_each(|cost| *cost += self.problem.leaf_cost);
            }
            _ => self.costs.push(cost),
        }
        if let Some(&known) = self.answers.get(&self.costs[..]) {
            return known;
        }
        let place = self.graph.answers.len() as u32;
        self.answers.insert(self.costs.clone().into(), place);
        self.graph.answers.push(self.costs.iter().copied().zip(0..).collect());
        place
    }

    /// List the splits of a node.
    fn expand(&mut self, node: u32) -> std::result::Result<(), Unfinished> {
        let name = self.names[node as usize].clone();
        let (depth, rows) = name.split_last().expect("a name has a depth");
        let depth = *depth as u32;
        if depth == 0 {
            return Ok(());
        }
        let budget = self.graph.nodes[node as usize].budget;
        let (_, candidates) = self.looker.splits(rows, depth, budget)?;
        let (from, mut apart) = (self.graph.splits.len() as u32, Apart::default());
        for candidate in &candidates {
            let sum = self.optima.sum(&mut self.looker, rows, candidate, depth, budget)?;
            if let Some(least) = sum {
                self.list(rows, depth, candidate, least, budget, &mut apart);
                // What is listed is true, even if the rest never is.
                let to = self.graph.splits.len() as u32;
                self.graph.nodes[node as usize].splits = (from, to);
            }
        }
        Ok(())
    }

    fn list(
        &mut self,
        rows: &[u64],
        depth: u32,
        candidate: &Candidate,
        least: [Cost; 2],
        budget: Cost,
        apart: &mut Apart,
    ) {
        let mut sides = std::mem::take(&mut self.sides);
        self.looker.sides(rows, candidate.question, &mut sides);
        let (questions, alike) = (self.questions, self.wanted.alike);
        let members = questions.of(candidate.question).iter();
        let mut members =
            members.filter(|&&member| apart.is_new(questions, member, &sides, alike)).peekable();
        if members.peek().is_none() {
            self.sides = sides;
            return;
        }
        let children = [0, 1].map(|side| {
            let left = budget - least[1 - side];
            if depth == 1 || candidate.split[side] > left {
                Child::Leaf(self.leaf(&sides[side], candidate.leaf[side]))
            } else {
                let (leaf, least) = (candidate.leaf[side], least[side]);
                Child::Node(self.node(&sides[side], below(depth), leaf, least, left))
            }
        });
        for &question in members {
            let is_swapped = self.questions.members[question as usize].is_swapped;
            let [left, right] = if is_swapped { [children[1], children[0]] } else { children };
            self.graph.splits.push(Split { question, left, right });
        }
        self.sides = sides;
    }

    fn finish(mut self) -> Graph {
        let root = &self.graph.nodes[0];
        let least = self.graph.splits_of(0).iter();
        let least =
            least.map(|split| self.graph.least_of(split.left) + self.graph.least_of(split.right));
        let answers = self.graph.answers[root.leaf as usize].iter().map(|&(cost, _)| cost);
        let least = least.chain(answers).min().unwrap_or(Cost::MAX);
        self.graph.nodes[0].least = least;
        self.graph
    }
}

/// The splits of a node that were listed, as far as others may be the same.
#[derive(Default)]
struct Apart {
    seen: HashSet<(Option<u32>, Vec<u64>)>,
}

impl Apart {
    fn is_new(
        &mut self,
        questions: &Questions,
        member: u32,
        sides: &[Vec<u64>; 2],
        alike: Alike,
    ) -> bool {
        let words = match alike {
            Alike::Once => None,
            Alike::Each => match questions.members[member as usize].words {
                None => return true,
                words => words,
            },
        };
        // The side of the first row stands for both.
        let first = |side: &Vec<u64>| {
            let word = side.iter().position(|&word| word != 0);
            word.map(|word| (word, side[word].trailing_zeros()))
        };
        let side = usize::from(first(&sides[1]) < first(&sides[0]));
        self.seen.insert((words, sides[side].clone()))
    }
}
