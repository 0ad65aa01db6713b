//! What a tree is asked to do well. A task turns a set of points into the cost of one leaf.
//!
//! To add a task whose cost adds up over leaves: write one file with its formula on top and an
//! [`AdditiveTask`] in it, and add one line to the registry below. Nothing else needs to know:
//! searches, bounds and the checker see only the trait [`Task`], and what poses and saves problems
//! sees only [`AdditiveInput`]. `docs/architecture/tasks.md` has the recipe.

/// Makes a module of each line, and [`ADDITIVE`] of the tasks in it.
macro_rules! registry {
    ($($file:ident: $($task:ident)+,)*) => {
        $(mod $file;)*

        /// Every additive task, in the order of the registry.
        pub static ADDITIVE: &[&AdditiveTask] = &[$($(&$file::$task,)+)*];
    };
}

registry! {
    deviance: POISSON GAMMA,
    description: MDL,
    impurity: GINI ENTROPY,
    targets: TARGETS,
}

mod additive;
mod class_costs;
mod class_input;
mod contract;
mod counted;
mod feature_costs;
mod finer;
mod formula;
mod front_task;
mod grouped;
mod known_tasks;
mod leaf;
mod logarithm;
mod merged;
mod merging;
mod paying;
mod rough;
mod row_prices;
mod rows;
mod saved;
mod scaled;
mod squares;
mod squares_input;
mod stated;
mod summed;
pub mod testing;
mod twofold;
mod whole_numbers;

pub use additive::{AdditiveInput, AdditiveTask};
pub use class_costs::ClassCosts;
pub use class_input::ClassInput;
pub use contract::{Labelled, Structure, Task};
pub use counted::{CountedClasses, CountedInput, SHARES};
pub use feature_costs::{
    FeatureCost, FeatureCostInput, FeatureCostList, FeatureCosts, ShortCosts, paid, paid_in_order,
};
pub use formula::{Formula, FormulaInput};
pub use front_task::FrontTask;
pub use grouped::Grouped;
pub use leaf::Leaf;
pub use merged::merged;
pub use merging::Merging;
pub use rough::Rough;
pub(crate) use rough::{AT_ONCE, RoughFormula, RoughLeaves, Sums};
pub use row_prices::{Price, RowPrices};
pub use rows::{ROUNDED_SUMS, RowCosts, Weighed};
pub use scaled::Scaled;
pub use squares::{Squares, gain};
pub use squares_input::SquaresInput;
pub use stated::{Losses, Paying, Routed, Stated};
pub use summed::Summed;

use crate::error::{Error, Result};

/// The additive task of this name.
pub fn additive(name: &str) -> Result<&'static AdditiveTask> {
    let names = || ADDITIVE.iter().map(|task| task.name).collect::<Vec<_>>().join(", ");
    let unknown = || Error::invalid(format!("there is no task {name:?}, but {}", names()));
    ADDITIVE.iter().copied().find(|task| task.name == name).ok_or_else(unknown)
}
