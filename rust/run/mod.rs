//! One run of a search: its limits, its progress, its cancellation. Every search checks in here.

mod aside;
mod curve;
mod decided;
mod held;
mod limits;
mod machine;
mod pace;
mod progress;
mod state;
mod threads;

pub use held::{Account, Counted, HeapBytes, Held};
pub use limits::{Limits, Status};
pub use pace::Pace;
pub use progress::{Moment, Progress, Work};
pub use state::{Aside, Pulse, Run};
pub use threads::{here, on_deep_stack, on_threads};
