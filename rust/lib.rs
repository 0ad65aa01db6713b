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
//! let kind = ColumnKind::Boolean;
//! let column = |name: &str| Column { name: name.into(), kind: kind.clone(), missing: false };
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
// A module tells in which order its files are read, and those who read them have them.
#![allow(rustdoc::private_intra_doc_links)]

#[doc = include_str!("../docs/own-task.md")]
pub mod own_task {}

pub mod answer;
pub mod check;
pub mod confusion;
pub mod context;
pub mod cost;
pub mod data;
pub mod error;
pub mod guess;
pub mod ids;
pub mod metric;
pub mod near;
pub mod pareto;
pub mod posed;
pub mod problem;
pub mod proof;
pub mod route;
pub mod run;
pub mod serial;
pub mod task;
pub mod tree;

// Within. They are public for the tests and benches of this repository, which are crates of their
// own, and for nobody else: names here may change with any version.
#[doc(hidden)]
pub mod bits;
#[doc(hidden)]
pub mod bounds;
#[doc(hidden)]
pub mod exact;
#[doc(hidden)]
pub mod finish;
#[doc(hidden)]
pub mod improve;
#[doc(hidden)]
pub mod kernel;
#[doc(hidden)]
pub mod search;
#[doc(hidden)]
pub mod view;

#[cfg(feature = "python")]
mod python;

pub use answer::solve;
