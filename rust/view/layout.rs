//! What a bit view will hold, and how large it will be, before the large part of it is made.

use std::sync::Arc;

use super::bit_view::{BitView, Cut, Fingerprint, Segment, View, from_key};
use super::entries::{Entries, segment};
use super::free_columns::FreeColumns;
use super::nesting::Nesting;
use super::path_context::{PathContext, alike};
use super::questions;
use super::thirds::Thirds;
use crate::context::Context;
use crate::cost::Cost;
use crate::data::{Features, Points};
use crate::ids::ColumnId;
use crate::task::{FeatureCosts, Structure, Task};

/// What questions cost, and which are allowed below which.
pub type Paths<'a> = (Option<&'a FeatureCosts>, Option<&'a Arc<dyn Context>>);

/// The questions and the entries of a problem: small beside their product, the bits.
pub struct Layout<'a> {
    features: &'a Features,
    points: &'a Points,
    task: &'a dyn Task,
    count_rows: bool,
    all_rows: bool,
    feature_costs: Option<&'a FeatureCosts>,
    context: Option<&'a Arc<dyn Context>>,
    segments: Vec<Segment>,
    /// By segment: its points.
    entries: Vec<Vec<u32>>,
    unavoidable_cost: Cost,
    keys: Vec<Fingerprint>,
    questions: Vec<Cut>,
    free: FreeColumns,
    thirds: Thirds,
}

impl<'a> Layout<'a> {
    /// `count_rows`: whether rows matter beside weights (a minimum leaf size). They do where
    /// questions cost something, because a row that no label is wrong for still pays, and where a
    /// split allows questions below that are forbidden in its place. `halt` is asked now and then;
    /// `None` once it says so.
    pub fn new(
        features: &'a Features,
        points: &'a Points,
        task: &'a dyn Task,
        count_rows: bool,
        (feature_costs, context): Paths<'a>,
        halt: &dyn Fn() -> bool,
    ) -> Option<Layout<'a>> {
        let all_rows = feature_costs.is_some() || context.is_some_and(|context| !sheds(context));
        let count_rows = count_rows || all_rows;
        let Entries { segments, points: entries, unavoidable_cost } =
            segment(points, task, count_rows);
        let keys = keys(points.len());
        if halt() {
            return None;
        }
        let class_of = alike(feature_costs, context, features);
        let questions = questions::distinct(features, points, &entries, &keys, &class_of);
        let free = match feature_costs.is_none() && context.is_none() && sums_by_value(task) {
            true => {
                let of = |question: &Cut| features.get(question.feature.index());
                FreeColumns::of(features, &questions.iter().map(of).collect::<Vec<_>>())
            }
            false => FreeColumns::default(),
        };
        let cuts: Vec<_> = questions.iter().map(|of| (of.feature, of.cut)).collect();
        let thirds = Thirds::of(features, &cuts);
        Some(Layout {
            features,
            points,
            task,
            count_rows,
            all_rows,
            feature_costs,
            context,
            segments,
            entries,
            unavoidable_cost,
            keys,
            questions,
            free,
            thirds,
        })
    }

    pub fn n_rows(&self) -> usize {
        self.entries.iter().map(Vec::len).sum()
    }

    pub fn n_questions(&self) -> usize {
        self.questions.len()
    }

    /// Bytes held now.
    pub fn bytes(&self) -> usize {
        let lists = self.entries.iter().map(|list| list.capacity() * size_of::<u32>());
        lists.sum::<usize>()
            + self.keys.capacity() * size_of::<Fingerprint>()
            + self.questions.capacity() * size_of::<Cut>()
            + self.free.bytes()
            + self.thirds.bytes()
    }

    fn stride(&self) -> usize {
        self.questions.len().div_ceil(64)
    }

    fn n_stats(&self) -> usize {
        match self.task.structure() {
            Structure::Classes(_) | Structure::Counts => 0,
            Structure::Labels(task) => task.n_labels(),
            Structure::Squares(_) | Structure::Sums => self.task.width(),
        }
    }

    fn width(&self) -> usize {
        match self.task.structure() {
            Structure::Classes(_) | Structure::Counts => 0,
            structure => {
                let least = matches!(structure, Structure::Sums);
                let masses = self.feature_costs.map_or(0, |costs| costs.n_masses);
                self.n_stats() + 1 + usize::from(least) + usize::from(self.count_rows) + masses
            }
        }
    }

    /// Bytes of the root's bits, keys, and costs.
    pub fn view_bytes(&self) -> usize {
        let row = self.stride() * 8
            + size_of::<Fingerprint>()
            + self.width() * size_of::<Cost>()
            + self.free.len();
        self.n_rows().saturating_mul(row) + self.questions.len() * size_of::<u32>()
    }

    /// The view itself. `None` when `halt` says so, or when the system has no memory for it.
    pub fn fill(self, halt: &dyn Fn() -> bool) -> Option<BitView> {
        let (stride, width, n_rows) = (self.stride(), self.width(), self.n_rows());
        let n_stats = self.n_stats();
        let mut root = View {
            columns: (0..self.questions.len() as u32).collect(),
            stride,
            ends: Vec::with_capacity(self.entries.len()),
            bits: zeros(n_rows.checked_mul(stride)?)?,
            ..View::default()
        };
        root.keys.try_reserve_exact(n_rows).ok()?;
        root.costs.try_reserve_exact(n_rows * width).ok()?;
        root.values.try_reserve_exact(n_rows * self.free.len()).ok()?;
        // A block of points at a time; each segment has its points in ascending order.
        let mut starts = vec![0; self.entries.len()];
        let mut block = Vec::new();
        for from in (0..self.points.len()).step_by(questions::BLOCK) {
            if halt() {
                return None;
            }
            questions::answers(self.features, self.points, &self.questions, from, &mut block);
            let mut row = 0;
            for (entries, start) in self.entries.iter().zip(&mut starts) {
                let within = |&&point: &&u32| (point as usize) < from + questions::BLOCK;
                for &point in entries[*start..].iter().take_while(within) {
                    let answers = &block[(point as usize - from) * stride..][..stride];
                    root.bits[(row + *start) * stride..][..stride].copy_from_slice(answers);
                    *start += 1;
                }
                row += entries.len();
            }
        }
        let mut seen = vec![false; self.points.len()];
        for entries in &self.entries {
            for &point in entries {
                let point = point as usize;
                root.keys.push(if seen[point] { [0; 2] } else { from_key(self.keys[point]) });
                seen[point] = true;
                root.values.extend(self.free.values(self.points, point));
                if width > 0 {
                    match self.task.structure() {
                        Structure::Labels(task) => {
                            let labels = 0..task.n_labels() as u32;
                            root.costs.extend(labels.map(|label| task.loss(point, label)));
                        }
                        _ => root.costs.extend_from_slice(self.task.stats(point)),
                    }
                    root.costs.push(self.task.worst(point).unwrap_or(Cost::MAX));
                    let sums = matches!(self.task.structure(), Structure::Sums);
                    root.costs.extend(sums.then(|| self.task.least(point)));
                    root.costs.extend(self.count_rows.then(|| self.points.rows(point) as Cost));
                    if let Some(costs) = self.feature_costs {
                        root.costs.extend_from_slice(costs.of_point(point));
                    }
                }
            }
            root.ends.push(root.keys.len() as u32);
        }
        root.len = n_rows;
        // Rows that are counted need no such order.
        let n_summed = if width > 0 { root.columns.len() } else { 0 };
        let nesting = Nesting::of(&root.bits, root.stride, n_summed);
        let column = |question: &Cut| self.features.get(question.feature.index()).column;
        let columns: Vec<ColumnId> = self.questions.iter().map(column).collect();
        Some(BitView {
            context: PathContext::new(self.feature_costs, self.context, self.features, columns),
            all_rows: self.all_rows,
            questions: self.questions,
            segments: self.segments,
            n_stats,
            width,
            unavoidable_cost: self.unavoidable_cost,
            nesting,
            free: self.free,
            thirds: self.thirds,
            root,
        })
    }
}

impl BitView {
    /// Layout and view in one, without limits: for tests and benches.
    pub fn new(features: &Features, points: &Points, task: &dyn Task, count_rows: bool) -> BitView {
        BitView::with_context(features, points, task, count_rows, (None, None))
    }

    /// As above, where questions cost something, or not all are allowed everywhere.
    pub fn with_context(
        features: &Features,
        points: &Points,
        task: &dyn Task,
        count_rows: bool,
        paths: Paths,
    ) -> BitView {
        let never = || false;
        Layout::new(features, points, task, count_rows, paths, &never)
            .and_then(|layout| layout.fill(&never))
            .expect("memory for the view")
    }
}

/// Whether there is a kernel that sums by value: where leaves answer with labels, or with one mean.
fn sums_by_value(task: &dyn Task) -> bool {
    match task.structure() {
        Structure::Classes(_) | Structure::Labels(_) => true,
        Structure::Squares(squares) => squares.n_outputs() == 1,
        Structure::Counts | Structure::Sums => false,
    }
}

/// Whether a question that is allowed below some split is allowed in its place.
/// So many zeros; `None` where the system has no memory for them. They come from the system as they
/// are, so that a view of gigabytes takes time, and memory, only as it is filled.
fn zeros(n: usize) -> Option<Vec<u64>> {
    // A list of zeros cannot be asked for without a panic, so that there is first asked for room.
    Vec::<u64>::new().try_reserve_exact(n).ok()?;
    Some(vec![0; n])
}

fn sheds(context: &Arc<dyn Context>) -> bool {
    let mut start = vec![0; context.words()];
    context.begin(&mut start);
    context.sheds(&start)
}

/// A fixed random key for each point: the same problem gives the same search.
fn keys(n: usize) -> Vec<Fingerprint> {
    let mut state = 0x5eed_cafe_f00d_d1ceu64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    (0..n).map(|_| Fingerprint::from(next()) << 64 | Fingerprint::from(next())).collect()
}
