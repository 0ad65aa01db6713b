//! A look at the clock now and then, for loops of short steps that may be very many.

use super::state::Run;

/// The clock is looked at after so many steps.
const MANY: usize = 1 << 10;

/// Counts steps, and remembers that the run was stopped.
pub struct Pace<'a, 'run> {
    run: &'a Run<'run>,
    steps: usize,
    over: bool,
}

impl<'a, 'run> Pace<'a, 'run> {
    pub fn new(run: &'a Run<'run>) -> Self {
        Pace { run, steps: 0, over: run.stopped().is_some() }
    }

    /// Whether the run was stopped, as far as this has seen. `steps`: those that were done since
    /// the last call.
    pub fn is_over(&mut self, steps: usize) -> bool {
        self.steps += steps;
        if self.steps >= MANY {
            self.steps = 0;
            self.over = self.over || self.run.check_time().is_some();
        }
        self.over
    }
}
