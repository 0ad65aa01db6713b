//! A problem as a checker reads it: points with their answers to questions, and costs by label.

use hashbrown::{HashMap, HashSet};

use super::numbers::quoted;
use crate::cost::{Cost, Scale};
use crate::data::{Column, ColumnKind, Feature, Order, Points, Threshold};
use crate::error::{Error, Result};
use crate::problem::{Problem, Shape};
use crate::run::Run;
use crate::task::{Labelled, Structure};

/// Cuts are asked one by one, and compared in pairs.
const MOST_QUESTIONS: usize = 1 << 14;
/// Answers in all.
const MOST_ANSWERS: usize = 1 << 30;
/// No sum of costs is larger, and none of a cost for each label than 2^62, so that no sum of a
/// checker overflows.
const MOST_COST: Cost = 1 << 57;

/// Each split has a number for each way to share leaves between its sides.
const MOST_LEAVES: u32 = 64;

pub struct Instance {
    pub depth: Option<u32>,
    /// No tree has more; none if points and depth allow no more anyway.
    pub leaves: Option<u32>,
    pub leaf: Cost,
    pub labels: usize,
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
    /// By point and label.
    pub costs: Vec<Cost>,
    /// By point of the problem: which of these it is.
    pub point_of: Vec<u32>,
    /// What each label costs a unit of weight of each class, if it is classes that cost, and units
    /// in a weight of 1.
    classes: Option<(Vec<Vec<Cost>>, f64)>,
}

impl Instance {
    /// An error that says what has proofs, if this problem has none.
    pub fn of(problem: &Problem, run: &Run) -> Result<Instance> {
        let task = supported(problem)?;
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
        let labels = task.n_labels();
        let mut instance = Instance {
            depth: max_depth,
            leaves: max_leaves,
            leaf: problem.leaf_cost,
            labels,
            min_rows: if min_leaf_rows > 1 { min_leaf_rows } else { 0 },
            rows: Vec::new(),
            scale: problem.scale,
            stride: questions.len().div_ceil(64),
            questions,
            answers: Vec::new(),
            costs: Vec::new(),
            point_of: Vec::with_capacity(n),
            classes: classes(problem),
        };
        instance.add_points(task, &rights, points);
        let worst: i128 = instance
            .costs
            .chunks_exact(labels)
            .map(|c| i128::from(*c.iter().max().unwrap_or(&0)))
            .sum();
        let is_large = worst * labels as i128 > 1 << 62;
        if is_large || worst.max(i128::from(instance.leaf)) > i128::from(MOST_COST) {
            return Err(Error::invalid("costs are in units too fine for a proof"));
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
        if rows.max(instance.min_rows.into()) > i128::from(MOST_COST) {
            return Err(Error::invalid(
                "a proof is of 2^57 rows at most, and so is min_samples_leaf",
            ));
        }
        Ok(instance)
    }

    fn add_points(&mut self, task: &dyn Labelled, rights: &[Vec<u64>], points: &Points) {
        let (labels, mut known) = (self.labels, HashMap::new());
        let mut losses = vec![0; labels];
        for point in 0..points.len() {
            let answer = |right: &Vec<u64>| (right[point / 64] >> (point % 64) & 1) as u8;
            let row: Vec<u64> =
                rights.chunks(64).map(|chunk| word(chunk.iter().map(answer))).collect();
            let next = known.len();
            let place = *known.entry(row.clone()).or_insert(next);
            if place == next {
                self.answers.extend_from_slice(&row);
                self.costs.extend(std::iter::repeat_n(0, labels));
                self.rows.push(0);
            }
            self.rows[place] += points.rows(point);
            task.losses(point, &mut losses);
            let costs = &mut self.costs[place * labels..(place + 1) * labels];
            costs.iter_mut().zip(&losses).for_each(|(cost, loss)| *cost += loss);
            self.point_of.push(place as u32);
        }
    }

    pub fn len(&self) -> usize {
        self.costs.len() / self.labels
    }

    pub fn is_empty(&self) -> bool {
        self.costs.is_empty()
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
             slack {slack}\nlabels {}\nquestions {}\npoints {}\n",
            self.leaf,
            self.labels,
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
        if let Some(leaves) = self.leaves {
            out.push_str(&format!("leaves {leaves}\n"));
        }
        self.questions.iter().for_each(|question| out.push_str(&format!("question {question}\n")));
        for (point, costs) in self.costs.chunks_exact(self.labels).enumerate() {
            out.push_str("point ");
            out.extend(
                (0..self.questions.len()).map(|q| ['0', '1'][usize::from(self.answer(point, q))]),
            );
            if self.min_rows > 0 {
                out.push_str(&format!(" {}", self.rows[point]));
            }
            costs.iter().for_each(|cost| out.push_str(&format!(" {cost}")));
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

/// The losses by label, where proofs are supported.
fn supported(problem: &Problem) -> Result<&dyn Labelled> {
    let plain = problem.feature_costs.is_none() && problem.context.is_none();
    problem.labelled().filter(|_| plain).ok_or_else(refused)
}

/// What has a proof.
pub fn refused() -> Error {
    Error::invalid(
        "proofs are for losses that add up over rows by label (errors, costs of classes or of rows), \
         with leaf_penalty, max_depth, max_leaf_nodes and min_samples_leaf: without constraints, \
         feature_costs, path_rules and missing=\"own_branch\"",
    )
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
