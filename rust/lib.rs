//! certree: decision trees that are provably the best there are, with a certificate.
//!
//! Reading order: [`data`] (columns, cuts, points) → [`task`] (what a leaf costs) → [`context`]
//! (what a path may ask) → [`problem`] → [`search`] → [`tree`] → [`route`] (which search takes a
//! problem) → [`answer`] ([`solve`]), and [`check`], which trusts none of them. [`own_task`] says
//! how to add a task.
//!
//! ```
//! use certree::data::{Column, ColumnKind, Points};
//! use certree::problem::{Problem, Shape};
//! use certree::run::{Limits, Run};
//! use certree::task::ClassInput;
//!
//! // Two Boolean columns, four points, the class is their exclusive or.
//! let column = |name: &str| Column { name: name.into(), kind: ColumnKind::Boolean, missing: false };
//! let columns = vec![column("a"), column("b")];
//! let codes = vec![vec![0, 0, 1, 1], vec![0, 1, 0, 1]];
//! let points = Points::new(&columns, codes, vec![1; 4])?;
//! let task = ClassInput {
//!     n_classes: 2,
//!     n_labels: 2,
//!     weights: vec![1., 0., 0., 1., 0., 1., 1., 0.],
//!     costs: vec![0., 1., 1., 0.],
//!     class_weights: vec![1., 1.],
//!     balanced: false,
//!     leaf_penalty: 0.01,
//! }
//! .build()?;
//! let problem = Problem::new(columns, points, task, Shape::default())?;
//! let run = Run::new(Limits::default(), problem.scale, None);
//! let answer = certree::solve(&problem, &run)?;
//! assert_eq!(answer.tree.n_leaves(), 4);
//! assert_eq!(answer.objective, 0.04);
//! # Ok::<(), certree::error::Error>(())
//! ```

// Lanes of several arrays are walked together: an index says so plainly.
#![allow(clippy::needless_range_loop)]

#[doc = include_str!("../docs/own-task.md")]
pub mod own_task {}

pub mod error;
pub mod ids;

pub mod bits;
pub mod cost;
pub mod exact;
pub mod run;
pub mod serial;

pub mod data;
pub mod task;
pub mod tree;

pub mod context;

pub mod problem;

pub mod view;

pub mod bounds;

pub mod kernel;

pub mod search;

pub mod check;
pub mod finish;
pub mod route;

pub mod improve;

pub mod answer;

pub mod guess;

pub mod pareto;

pub mod metric;

pub mod confusion;

pub mod near;

pub mod proof;

pub mod posed;

#[cfg(feature = "python")]
mod python;

pub use answer::solve;
