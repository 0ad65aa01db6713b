//! What a tree is asked to do well. A task turns a set of points into the cost of one leaf.
//!
//! To add a task whose cost adds up over leaves: write one file with its formula on top, implement
//! [`Task`] in it, and add it to the list below. Nothing else needs to know: searches, bounds and
//! the checker see only the trait.

mod class_costs;
mod class_input;
mod contract;
mod counted;
mod description;
mod deviance;
mod feature_costs;
mod formula;
mod front_task;
mod grouped;
mod impurity;
mod known_tasks;
mod leaf;
mod logarithm;
mod merged;
mod merging;
mod rows;
mod saved;
mod scaled;
mod squares;
mod squares_input;
mod stated;
mod summed;
mod targets;
pub mod testing;
mod twofold;
mod whole_numbers;

pub use class_costs::ClassCosts;
pub use class_input::ClassInput;
pub use contract::{Labelled, Structure, Task};
pub use counted::{CountedInput, SHARES};
pub use deviance::{Deviance, RateInput};
pub use feature_costs::{FeatureCost, FeatureCostInput, FeatureCostList, FeatureCosts, paid};
pub use formula::{Formula, FormulaInput};
pub use front_task::FrontTask;
pub use grouped::Grouped;
pub use impurity::Impurity;
pub use leaf::Leaf;
pub use merged::merged;
pub use merging::Merging;
pub use rows::{ROUNDED_SUMS, RowCosts, Weighed};
pub use scaled::Scaled;
pub use squares::Squares;
pub use squares_input::SquaresInput;
pub use stated::{Losses, Paying, Routed, Stated};
pub use summed::Summed;
pub use targets::TargetsInput;
