//! A problem as a checker reads it: points with their answers to questions, and numbers that say
//! what leaves cost.

use std::fmt;

use hashbrown::{HashMap, HashSet};

use super::numbers::quoted;
use super::squares::{self, Squares};
use crate::cost::{Cost, Scale};
use crate::data::{Column, ColumnKind, Feature, Order, Threshold};
use crate::error::{Error, Result};
use crate::problem::{Problem, Shape};
use crate::run::Run;
use crate::task::Structure;

/// Cuts are asked one by one, and compared in pairs.
const MOST_QUESTIONS: usize = 1 << 14;
/// Answers in all.
const MOST_ANSWERS: usize = 1 << 30;
/// No sum of costs is larger, so that no sum of a checker overflows.
const MOST_COST: Cost = 1 << 57;
/// Nor is one over points of another number of theirs, or of a cost for each label.
const MOST_SUM: i128 = 1 << 62;
const MOST_TARGETS: usize = 64;
/// Each split has a number for each way to share leaves between its sides.
const MOST_LEAVES: u32 = 64;

/// What the numbers of points are, and so what a leaf costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Numbers {
    /// What they cost under each of so many labels.
    Labels(usize),
    /// Weight, sum by target, and squares: `task/squares.rs` says what a leaf costs. By target, by
    /// how many bits squares are shifted to be in units of cost.
    Squares(Vec<u32>),
}

impl fmt::Display for Numbers {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Numbers::Labels(labels) => write!(out, "labels {labels}"),
            Numbers::Squares(shifts) => {
                let shifts: Vec<String> = shifts.iter().map(u32::to_string).collect();
                write!(out, "squares {}", shifts.join(" "))
            }
        }
    }
}

impl Numbers {
    /// How many of them a point has.
    pub fn width(&self) -> usize {
        match self {
            Numbers::Labels(labels) => *labels,
            Numbers::Squares(shifts) => shifts.len() + 2,
        }
    }
}

pub struct Instance {
    pub depth: Option<u32>,
    /// No tree has more; none if points and depth allow no more anyway.
    pub leaves: Option<u32>,
    pub leaf: Cost,
    pub kind: Numbers,
    /// Rows that each leaf of a split holds at least; 0 if one is enough, so that rows do not
    /// matter.
    pub min_rows: u64,
    /// By point.
    pub rows: Vec<u64>,
    scale: Scale,
    /// In JSON.
    pub questions: Vec<String>,
    /// Words of answers of a point.
    pub stride: usize,
    /// By point; points that answer alike are one.
    pub answers: Vec<u64>,
    /// By point.
    pub numbers: Vec<i64>,
    /// By point of the problem: which of these it is.
    pub point_of: Vec<u32>,
    /// What each label costs a unit of weight of each class, if it is classes that cost, and units
    /// in a weight of 1.
    classes: Option<(Vec<Vec<Cost>>, f64)>,
    /// Of squares, by target: the target whose sum is 0, and the exponent of 2 that a 1 of a sum is
    /// worth.
    targets: Vec<(f64, i32)>,
}

impl Instance {
    /// An error that says what has proofs, if this problem has none.
    pub fn of(problem: &Problem, run: &Run) -> Result<Instance> {
        let kind = supported(problem)?;
        let Shape { max_depth, max_leaves, min_leaf_rows } = problem.shape;
        let (columns, points) = (&problem.columns, &problem.points);
        let n_cuts: u64 = problem.features.iter().map(|feature| u64::from(feature.cuts)).sum();
        let n = points.len();
        if n_cuts > 64 * MOST_QUESTIONS as u64 || n_cuts.saturating_mul(n as u64) > 1 << 34 {
            return Err(too_many(n_cuts));
        }
        let (mut questions, mut rights, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        let mut bytes = vec![0u8; n];
        for feature in problem.features.iter() {
            for cut in 0..feature.cuts {
                feature.rights(points, cut, 0, &mut bytes);
                let flip = bytes[0];
                let bits: Vec<u64> =
                    bytes.chunks(64).map(|chunk| word(chunk.iter().map(|b| b ^ flip))).collect();
                if bits.iter().any(|&word| word != 0) && !seen.contains(&bits) {
                    seen.insert(bits);
                    let column = &columns[feature.column.index()];
                    questions.push(in_words(column, feature, cut));
                    rights
                        .push(bytes.chunks(64).map(|chunk| word(chunk.iter().copied())).collect());
                }
                if questions.len() > MOST_QUESTIONS || questions.len() * n > MOST_ANSWERS {
                    return Err(too_many(n_cuts));
                }
            }
            if run.stopped().is_some() {
                return Err(stopped());
            }
        }
        drop(seen);
        let mut instance = Instance {
            depth: max_depth,
            leaves: max_leaves,
            leaf: problem.leaf_cost,
            kind,
            min_rows: if min_leaf_rows > 1 { min_leaf_rows } else { 0 },
            rows: Vec::new(),
            scale: problem.scale,
            stride: questions.len().div_ceil(64),
            questions,
            answers: Vec::new(),
            numbers: Vec::new(),
            point_of: Vec::with_capacity(n),
            classes: classes(problem),
            targets: targets(problem),
        };
        instance.add_points(problem, &rights);
        if instance.leaf > MOST_COST || !instance.is_in_range() {
            return Err(too_fine());
        }
        let most =
            max_depth.map_or(u32::MAX, |depth| 1 << depth.min(31)).min(instance.len() as u32);
        instance.leaves = max_leaves.filter(|&leaves| leaves < most);
        if instance.leaves > Some(MOST_LEAVES) {
            return Err(Error::invalid(format!(
                "a proof is of max_leaf_nodes={MOST_LEAVES} at most, or of a max_depth that allows no \
                 more leaves"
            )));
        }
        let rows: i128 = instance.rows.iter().map(|&rows| i128::from(rows)).sum();
        if let Numbers::Squares(_) = instance.kind {
            instance.scale.slack = instance.squares_slack(most);
        }
        if rows.max(instance.min_rows.into()) > i128::from(MOST_COST) {
            return Err(Error::invalid(
                "a proof is of 2^57 rows at most, and so is min_samples_leaf",
            ));
        }
        Ok(instance)
    }

    /// Whether no sum of a checker overflows.
    fn is_in_range(&self) -> bool {
        let points = || self.numbers.chunks_exact(self.kind.width());
        let total = |of: &dyn Fn(&[i64]) -> i64| points().map(|p| i128::from(of(p))).sum::<i128>();
        match &self.kind {
            Numbers::Labels(labels) => {
                let worst = total(&|costs| costs.iter().copied().max().unwrap_or(0));
                worst <= MOST_COST.into() && worst * *labels as i128 <= MOST_SUM
            }
            Numbers::Squares(shifts) => {
                let (last, fits) = (shifts.len() + 1, shifts.iter().all(|&shift| shift < 128));
                fits && shifts.len() <= MOST_TARGETS
                    && (0..last).all(|at| total(&|point| point[at].abs()) <= MOST_SUM)
                    && total(&|point| point[last]) <= MOST_COST.into()
                    && Squares::new(shifts, &self.numbers).is_some()
            }
        }
    }

    /// By how much the cost of a tree may differ from its squared errors and penalties in units,
    /// either way, if it has so many leaves at most.
    ///
    /// With the words of `task/squares.rs`: the sums of a tree are off by its slack; the offset,
    /// which is rounded down, and what weights were moved by, by twice that and 2 units; each leaf
    /// and target by a unit; and each penalty by one, and some four steps of a float.
    fn squares_slack(&self, most_leaves: u32) -> Cost {
        let of_leaf = self.kind.width() as Cost + (self.leaf >> 50);
        3 * self.scale.slack + 2 + Cost::from(most_leaves) * of_leaf
    }

    fn add_points(&mut self, problem: &Problem, rights: &[Vec<u64>]) {
        let (width, points) = (self.kind.width(), &problem.points);
        let (mut known, mut own) = (HashMap::new(), vec![0; width]);
        for point in 0..points.len() {
            let answer = |right: &Vec<u64>| (right[point / 64] >> (point % 64) & 1) as u8;
            let row: Vec<u64> =
                rights.chunks(64).map(|chunk| word(chunk.iter().map(answer))).collect();
            let next = known.len();
            let place = *known.entry(row.clone()).or_insert(next);
            if place == next {
                self.answers.extend_from_slice(&row);
                self.numbers.extend(std::iter::repeat_n(0, width));
                self.rows.push(0);
            }
            self.rows[place] += points.rows(point);
            match problem.labelled() {
                Some(task) => task.losses(point, &mut own),
                None => own.copy_from_slice(&problem.task.stats(point)[..width]),
            }
            let numbers = &mut self.numbers[place * width..(place + 1) * width];
            numbers.iter_mut().zip(&own).for_each(|(sum, number)| *sum += number);
            self.point_of.push(place as u32);
        }
    }

    /// What points with these numbers together cost as a leaf, beside its penalty.
    pub fn loss(&self, sums: &[i64]) -> Cost {
        match &self.kind {
            Numbers::Labels(_) => sums.iter().copied().min().unwrap_or(0),
            Numbers::Squares(shifts) => squares::loss(sums, shifts),
        }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn answer(&self, point: usize, question: usize) -> bool {
        self.answers[point * self.stride + question / 64] >> (question % 64) & 1 == 1
    }

    /// The file. `about`: JSON on one line that says what the table is.
    pub fn to_text(&self, about: &str) -> String {
        let Scale { units, offset, slack, .. } = self.scale;
        let depth = self.depth.map_or("none".into(), |depth| depth.to_string());
        let mut out = format!(
            "certree instance 1\ndepth {depth}\nleaf {}\noffset {offset}\nunits {units:?}\n\
             slack {slack}\n{}\nquestions {}\npoints {}\n",
            self.leaf,
            self.kind,
            self.questions.len(),
            self.len(),
        );
        if self.min_rows > 0 {
            out.push_str(&format!("rows {}\n", self.min_rows));
        }
        out.push_str(&format!("about {about}\n"));
        if let Some((costs, weight_units)) = &self.classes {
            out.push_str(&format!(
                "about {{\"class_costs\": {costs:?}, \"weight_units\": {weight_units:?}}}\n"
            ));
        }
        if !self.targets.is_empty() {
            let pairs = self.targets.iter().map(|(zero, step)| format!("[{zero:?}, {step}]"));
            let pairs = pairs.collect::<Vec<_>>().join(", ");
            out.push_str(&format!("about {{\"targets\": [{pairs}]}}\n"));
        }
        if let Some(leaves) = self.leaves {
            out.push_str(&format!("leaves {leaves}\n"));
        }
        self.questions.iter().for_each(|question| out.push_str(&format!("question {question}\n")));
        for (point, numbers) in self.numbers.chunks_exact(self.kind.width()).enumerate() {
            out.push_str("point ");
            out.extend(
                (0..self.questions.len()).map(|q| ['0', '1'][usize::from(self.answer(point, q))]),
            );
            if self.min_rows > 0 {
                out.push_str(&format!(" {}", self.rows[point]));
            }
            numbers.iter().for_each(|number| out.push_str(&format!(" {number}")));
            out.push('\n');
        }
        out.push_str("end\n");
        out
    }
}

pub fn stopped() -> Error {
    Error::invalid("the time for the proof was over: raise time_limit")
}

fn word(bits: impl DoubleEndedIterator<Item = u8>) -> u64 {
    bits.rev().fold(0, |word, bit| word << 1 | u64::from(bit))
}

fn too_many(n_cuts: u64) -> Error {
    Error::invalid(format!(
        "a proof asks each cut by itself: there are {n_cuts} cuts, but {MOST_QUESTIONS} at most are \
         supported, and 2^30 answers to them; fewer come of thresholds=8, say"
    ))
}

/// What the numbers of points are, where proofs are supported.
fn supported(problem: &Problem) -> Result<Numbers> {
    if problem.feature_costs.is_some() || problem.context.is_some() {
        return Err(refused());
    }
    match problem.task.structure() {
        Structure::Squares(squares) => {
            let shifts = (0..squares.n_outputs()).map(|output| squares.shift(output));
            let shifts = shifts.map(u32::try_from).collect::<std::result::Result<_, _>>();
            shifts.map(Numbers::Squares).map_err(|_| too_fine())
        }
        other => other.labelled().map(|task| Numbers::Labels(task.n_labels())).ok_or_else(refused),
    }
}

fn too_fine() -> Error {
    Error::invalid("costs are in units too fine for a proof")
}

/// What has a proof.
pub fn refused() -> Error {
    Error::invalid(
        "proofs are for losses that add up over rows by label (errors, costs of classes or of rows) \
         and for squared errors, with leaf_penalty, max_depth, max_leaf_nodes and min_samples_leaf: \
         without constraints, feature_costs, path_rules and missing=\"own_branch\"",
    )
}

fn targets(problem: &Problem) -> Vec<(f64, i32)> {
    let squares = problem.task.structure().squares();
    squares.map_or(Vec::new(), |s| (0..s.n_outputs()).map(|output| s.read(output)).collect())
}

fn classes(problem: &Problem) -> Option<(Vec<Vec<Cost>>, f64)> {
    let Structure::Classes(classes) = problem.task.structure() else { return None };
    let row = |class| (0..classes.n_labels()).map(|label| classes.cost(class, label)).collect();
    Some(((0..classes.n_classes()).map(row).collect(), classes.weight_units()))
}

/// A question in JSON: its column, what values of it have the answer 1, and the answer of missing
/// ones.
fn in_words(column: &Column, feature: &Feature, cut: u32) -> String {
    let name = quoted(&column.name);
    let known = column.n_codes() as u32 - u32::from(column.missing);
    let right = |code: u32| feature.order.rank(code) > cut;
    let mut missing = String::new();
    if let Some(code) = column.missing_code() {
        missing = format!(", \"missing\": {}", u8::from(right(code)));
    }
    let all_alike = (1..known).all(|code| right(code) == right(0));
    let asked = match &column.kind {
        _ if all_alike => format!("\"known\": {}", u8::from(right(0))),
        ColumnKind::Ordered(cuts) => match cuts.get(cut as usize) {
            Some(Threshold::Float(t)) => format!("\"above\": {t:?}"),
            Some(Threshold::Int(t)) => format!("\"above\": {t}"),
            None => "\"known\": 0".into(),
        },
        ColumnKind::Boolean => "\"is\": true".into(),
        ColumnKind::Category(values) | ColumnKind::Sets(values) => {
            let all = values.iter().enumerate();
            let of = all.filter(|&(code, _)| right(code as u32)).map(|(_, value)| quoted(value));
            format!("\"in\": [{}]", of.collect::<Vec<_>>().join(", "))
        }
    };
    debug_assert!(!matches!(feature.order, Order::MissingLowest(_)) || column.missing);
    format!("{{\"column\": {name}, {asked}{missing}}}")
}
