//! Data, a task, and what a tree may be: everything a search is given.

mod digest;

use std::sync::Arc;

use crate::context::{Context, Product};
use crate::cost::{Cost, Scale};
use crate::data::{Column, Features, Points};
use crate::error::{Error, Result};
use crate::serial::{Reader, Saved, Writer};
use crate::task::{FeatureCosts, Labelled, Scaled, Stated, Structure, Summed, Task};

/// A limit on trees: how it is said and saved.
trait Limit: Sized {
    /// `None` is no limit.
    fn of(number: Option<u64>) -> Option<Self>;

    fn write(self, out: &mut Writer);

    fn read(from: &mut Reader) -> Result<Self>;
}

/// May be left out.
impl Limit for Option<u32> {
    fn of(number: Option<u64>) -> Option<Self> {
        // No tree has as many levels or leaves as the largest number says.
        Some(number.map(|number| u32::try_from(number).unwrap_or(u32::MAX)))
    }

    fn write(self, out: &mut Writer) {
        out.option(self, Writer::short);
    }

    fn read(from: &mut Reader) -> Result<Self> {
        from.option(Reader::short)
    }
}

impl Limit for u64 {
    fn of(number: Option<u64>) -> Option<Self> {
        number
    }

    fn write(self, out: &mut Writer) {
        out.number(self);
    }

    fn read(from: &mut Reader) -> Result<Self> {
        from.number()
    }
}

/// Makes [`Shape`] of its limits, each with its type and what it is unless somebody sets it. Who
/// takes a shape apart names all of them, so that the compiler finds all that a new one concerns.
macro_rules! limits {
    ($($(#[$words:meta])* $limit:ident: $kind:ty = $unset:expr,)*) => {
        /// What a tree may be. A single leaf is always allowed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Shape {
            $($(#[$words])* pub $limit: $kind,)*
        }

        impl Default for Shape {
            fn default() -> Self {
                Shape { $($limit: $unset,)* }
            }
        }

        impl Shape {
            /// Set the limit of this name.
            pub fn set(&mut self, name: &str, number: Option<u64>) -> Result<()> {
                match name {
                    $(stringify!($limit) => {
                        let unset = || Error::invalid(format!("{name} is a number, and not None"));
                        self.$limit = <$kind as Limit>::of(number).ok_or_else(unset)?;
                    })*
                    _ => return Err(Error::invalid(format!("there is no limit {name:?}"))),
                }
                Ok(())
            }
        }

        impl Saved for Shape {
            fn write(&self, out: &mut Writer) {
                $(Limit::write(self.$limit, out);)*
            }

            fn read(from: &mut Reader) -> Result<Shape> {
                Ok(Shape { $($limit: Limit::read(from)?,)* })
            }
        }
    };
}

limits! {
    /// Depth of a single leaf is 0. `None`: as deep as it pays.
    max_depth: Option<u32> = None,
    max_leaves: Option<u32> = None,
    /// Rows (not weight) that every leaf of a split must hold.
    min_leaf_rows: u64 = 1,
}

impl Shape {
    /// Whether any tree is allowed.
    pub fn is_unlimited(&self) -> bool {
        let Shape { max_depth, max_leaves, min_leaf_rows } = *self;
        max_depth.is_none() && max_leaves.is_none() && min_leaf_rows <= 1
    }
}

/// Clones share the data.
#[derive(Clone)]
pub struct Problem {
    pub columns: Vec<Column>,
    pub features: Features,
    pub points: Points,
    pub task: Arc<dyn Task>,
    pub shape: Shape,
    /// λ in the task's units, and what rounding is worth.
    pub leaf_cost: Cost,
    /// The part of `leaf_cost` that stands for rounding (`task/summed.rs`).
    pub rounding: Cost,
    pub scale: Scale,
    /// What splits cost beside their leaves, if they do.
    pub feature_costs: Option<FeatureCosts>,
    /// Which columns may be asked below which others, if that is not all.
    pub context: Option<Arc<dyn Context>>,
    /// The caller's own numbers, if they were handed on.
    pub stated: Option<Arc<dyn Stated>>,
}

impl Problem {
    pub fn new(columns: Vec<Column>, points: Points, scaled: Scaled, shape: Shape) -> Result<Self> {
        if shape.max_leaves == Some(0) {
            return Err(Error::invalid("max_leaf_nodes must be at least 1"));
        }
        if scaled.task.n_points() != points.len() {
            return Err(Error::invalid(format!(
                "weights or costs are given for {} points, but there are {}",
                scaled.task.n_points(),
                points.len()
            )));
        }
        if let Some(costs) = &scaled.feature_costs
            && costs.of_column.len() != columns.len()
        {
            return Err(Error::invalid(format!(
                "tests are given for {} columns, but there are {}",
                costs.of_column.len(),
                columns.len()
            )));
        }
        let features = Features::of(&columns);
        let Scaled { task, leaf_cost, scale, feature_costs, stated } = scaled;
        let task: Arc<dyn Task> = task.into();
        let nothing_to_search = leaf_cost == 0 && shape.is_unlimited() && feature_costs.is_none();
        let mut problem = Problem {
            columns,
            features,
            points,
            task: task.clone(),
            shape,
            leaf_cost,
            rounding: 0,
            scale,
            feature_costs,
            context: None,
            stated,
        };
        match task.structure() {
            Structure::Sums | Structure::Counts if nothing_to_search => {
                // The tree that separates all points is as good as any, up to rounding.
                let most = task.rounding().saturating_mul(problem.points.len() as Cost);
                problem.scale.slack += most;
                problem.task = Arc::new(Summed::uncharged(task)?);
            }
            Structure::Sums | Structure::Counts => problem.charge(task)?,
            _ => {}
        }
        Ok(problem)
    }

    /// Whether leaves cost something beside what they lose.
    pub fn has_penalty(&self) -> bool {
        self.leaf_cost > self.rounding
    }

    /// This problem, with trees that keep to a context too, beside what they had to keep to
    /// before.
    pub fn with_context(mut self, context: Arc<dyn Context>) -> Result<Self> {
        context.validate(self.columns.len())?;
        if context.has_costs() {
            return Err(Error::invalid(
                "feature costs belong to the task, because only the task says what a row pays for a \
                 unit of them",
            ));
        }
        let all = match &self.context {
            None => context,
            Some(known) => Arc::new(Product::new(vec![known.clone(), context], self.columns.len())),
        };
        if let Some(inner) = self.task.inner()
            && self.rounding == 0
        {
            // Rounding was not charged if there was nothing to search, but now there is.
            self.charge(inner)?;
        }
        Ok(Problem { context: Some(all), ..self })
    }

    /// This problem, with trees that keep to the context of another problem of these columns.
    pub fn with_context_of(self, other: &Problem) -> Result<Self> {
        match &other.context {
            Some(context) => self.with_context(context.clone()),
            None => Ok(self),
        }
    }

    /// Charge what the task rounds.
    fn charge(&mut self, inner: Arc<dyn Task>) -> Result<()> {
        let rounding = inner.rounding();
        let (summed, shift) = Summed::charged(inner)?;
        self.task = match self.feature_costs {
            Some(_) => Arc::new(summed.by_row()),
            None => Arc::new(summed),
        };
        self.rounding = rounding;
        self.leaf_cost += rounding;
        self.scale.offset -= i128::from(shift);
        Ok(())
    }

    /// The losses by label, of a task whose answers are labels.
    pub fn labelled(&self) -> Option<&dyn Labelled> {
        self.task.structure().labelled()
    }

    /// As above, for smaller trees.
    pub fn with_most_leaves(&self, most: u32) -> Problem {
        let shape = Shape { max_leaves: Some(most), ..self.shape };
        Problem { shape, ..self.clone() }
    }

    /// The most nodes that a path may have, because each split takes a point away at least.
    pub fn longest_path(&self) -> usize {
        let Shape { max_depth, max_leaves, min_leaf_rows: _ } = self.shape;
        let levels = max_depth.unwrap_or(u32::MAX).min(max_leaves.unwrap_or(u32::MAX));
        (levels as usize).min(self.points.len().saturating_sub(1)) + 1
    }

    /// What all points cost as one leaf.
    pub fn as_one_leaf(&self) -> Cost {
        self.task.leaf(&self.stats(0..self.points.len())).cost + self.leaf_cost
    }

    /// Summed statistics of some points.
    pub fn stats<I: IntoIterator<Item = usize>>(&self, points: I) -> Vec<i64> {
        let mut sum = vec![0; self.task.width()];
        for point in points {
            for (total, s) in sum.iter_mut().zip(self.task.stats(point)) {
                *total += s;
            }
        }
        sum
    }
}
